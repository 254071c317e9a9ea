"""The directive ``registered``: the names in a registry, each with its description."""

from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Registered(SphinxDirective):
    """A definition list of the registry named by the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].rpartition(".")
        registry = getattr(import_module(module), name)
        items = nodes.definition_list(classes=["registered"])
        for entry, description in registry.describe().items():
            # Descriptions are docstrings, where "tau_0" is not a reference.
            text = nodes.paragraph("", "", nodes.Text(description.replace("``", "")))
            term = nodes.term("", "", nodes.literal(text=f'"{entry}"'))
            items += nodes.definition_list_item("", term, nodes.definition("", text))
        return [items]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("registered", Registered)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
