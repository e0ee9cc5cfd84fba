"""Configuration of the documentation site: `make docs` builds it, with warnings as errors."""

from __future__ import annotations

from importlib.metadata import version as installed

project = "rapids-trav"
version = release = installed("rapids-trav")
author = "the developers of rapids-trav"
project_copyright = f"2026, {author}"

extensions = [
    "myst_nb",  # MyST's Markdown, and notebooks with the outputs that they were stored with
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "show_prev_next": True}
html_title = project
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"**": []}  # the pages form no tree

# Pages are read on their own as well, so headings have the anchors that a repository's viewer gives them.
myst_heading_anchors = 4

nb_execution_mode = "off"  # a test runs the notebooks and compares the outputs

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have the types
autosummary_generate = True
default_role = "py:obj"  # a name in single backticks is code, and leads to where the API documents it
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
