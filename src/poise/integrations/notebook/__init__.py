"""The label screen and the map in a notebook, by anywidget: Jupyter, marimo, VS Code.

`Learner.widget` and `Graph.map` make them. The page's own JavaScript and style sheets are used, see
docs/decisions/notebook.md.
"""

from poise.extras import needed

needed("anywidget", "notebook", "a widget in a notebook")

# Below the check, which says what to install.
from poise.integrations.notebook.label import LabelWidget  # noqa: E402
from poise.integrations.notebook.map import MapWidget  # noqa: E402

__all__ = ["LabelWidget", "MapWidget"]
