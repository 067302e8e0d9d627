"""Sphinx's settings for the site; tools/docs/build_site.py writes what it builds from."""

project = "pyptx"
author = "the pyptx authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "pyptx"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 3
myst_enable_extensions: list[str] = []
exclude_patterns: list[str] = []
highlight_language = "text"
pygments_style = "tango"
nitpicky = True
smartquotes = False
suppress_warnings = ["toc.not_included"]  # an opcode's page is reached from the table: 137 entries in every sidebar are slow
