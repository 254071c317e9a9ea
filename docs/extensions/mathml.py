"""Formulas as MathML, converted while the pages are built: no script, no font, no network.

Browsers draw MathML themselves. The converter is the one that docutils uses for its own HTML.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util.logging import getLogger

logger = getLogger(__name__)


def convert(self: Any, node: nodes.Element, *, as_block: bool) -> str:
    """MathML of a formula. A failure is a warning, which the strict build turns into an error."""
    formula = node.astext()
    try:
        return str(tex2mathml(formula, as_block=as_block))
    except MathError as error:
        logger.warning("no MathML for %r: %s", formula, error, location=node)
        return f"<code>{self.encode(formula)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(convert(self, node, as_block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f'<div class="formula">{convert(self, node, as_block=True)}</div>')
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
