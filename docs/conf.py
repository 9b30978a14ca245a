"""The documentation site: ``make docs`` builds it into docs/_build, with nothing fetched while it is built or read."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate
from pygments.lexers.special import TextLexer

project = "mcls"
author = "The mcls developers"
copyright = "the mcls developers"
version = release = metadata.version("mcls")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples", "**/*.ipynb", "gallery/**/*.py.md5"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "reset_modules": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "mcls"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"changelog": [], "security": []}


def setup(app):
    """Write the pages that follow from the code before the others are read."""
    app.add_lexer("csv", TextLexer)
    app.connect("config-inited", lambda app, config: generate.write_all(Path(app.srcdir)))
