"""Charts, panels and pages: HTML and SVG without a plotting library."""
