# SPDX-License-Identifier: MIT
"""How Sphinx makes the site and the manual pages. scripts/site copies it beside the pages."""

import json
import posixpath
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).resolve().parent
project = "Pawl"
author = "the Pawl authors"
copyright = "the Pawl authors, MIT licence"  # noqa: A001 (Sphinx's name for it)
told = json.loads((HERE / "told.json").read_text(encoding="utf-8"))
version = release = told["version"]
today = f"Pawl {version}"  # a day would make every build another one
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # scripts/site looks itself where links lead to
smartquotes = False
toc_object_entries = False  # the menu would have every function, and each page would take long
highlight_language = "none"
add_function_parentheses = False
pygments_style = "tango"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = f"Pawl {version}"
html_static_path = ["static"]
html_css_files = ["pawl.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

man_pages = [tuple(page) for page in told["man_pages"]]
man_make_section_directory = False


def place(app, env, node, contnode):
    """A link to a place that MyST does not know: an anchor of HTML, or one of an older MyST's."""
    page, mark, anchor = node["reftarget"].partition("#")
    if node.get("refdomain") or not (mark or node["reftype"] == "myst"):
        return None
    if not mark:
        page, anchor = "", page
    here = node["refdoc"]
    there = posixpath.normpath(posixpath.join(posixpath.dirname(here), page)) if page else here
    there = there.removesuffix(".md").removesuffix(".rst")
    if there not in env.found_docs:
        return None
    uri = app.builder.get_relative_uri(here, there) if there != here else ""
    return nodes.reference("", "", contnode, internal=True, refuri=f"{uri}#{anchor}")


def setup(app):
    app.connect("missing-reference", place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
