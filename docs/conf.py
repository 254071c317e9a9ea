"""How the documentation is built: ``make docs``, offline and with every warning an error."""

import sys
from pathlib import Path

import poise

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from gallery import filename_pattern

project = "poise"
author = "The poise developers"
version = release = poise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    # In docs/extensions:
    "command_help",
    "gallery",
    "mathml",
    "registered",
]
exclude_patterns = ["images/*.py", "gallery/*.ipynb", "gallery/*.py"]

# Pages ------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Reference --------------------------------------------------------------------------------------
# Docstrings describe types in words, with shapes, so signatures stay short.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
# Types such as "(n, J) array" are not names of objects, so they must not become links.
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
# A word between single backticks in a docstring is code.
default_role = "literal"

# Gallery ----------------------------------------------------------------------------------------
# An example runs again when its file has changed. The pages, docs/gallery, are not in git.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": filename_pattern(),
    "within_subsection_order": "gallery.Order",
    "reset_modules": ("matplotlib", "gallery.use_style"),
    "image_srcset": ["2x"],
    "thumbnail_size": (640, 400),
    "remove_config_comments": True,
    "capture_repr": (),
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
}

# Appearance -------------------------------------------------------------------------------------
html_theme = "furo"
html_title = "poise"
html_static_path = ["static"]
html_css_files = ["poise.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def hide_colons_from_napoleon(app, what, name, obj, options, lines):
    """Napoleon would read "Component of each node: ..." as a type and its description.

    It looks at the first line only, so that line becomes an empty comment.
    """
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]


def setup(app):
    app.connect("autodoc-process-docstring", hide_colons_from_napoleon, priority=400)
