"""The documentation as pages with a search that needs no server: sphinx-build -W -b html docs build/site

Debian: python3-sphinx, python3-myst-parser. A link or an anchor that leads nowhere is an error; one
to a file of the checkout outside docs becomes plain text.
"""
import pathlib

from docutils import nodes
from pygments.lexers.special import TextLexer

project = "sonde"
extensions = ["myst_parser"]
myst_heading_anchors = 6
html_theme = "alabaster"
html_theme_options = {"page_width": "72em", "sidebar_width": "15em"}
html_show_sourcelink = False
html_show_copyright = False
# A summary of a result would be fetched, which browsers refuse for files.
html_show_search_summary = False


class ScriptLexer(TextLexer):
    """Scripts are shown as they are: Pygments does not know the language."""

    name = "bpftrace"


def outside(app, env, node, contnode):
    """A link to a file outside docs, which has no page here."""
    place = pathlib.Path(env.doc2path(node["refdoc"])).parent
    target = node["reftarget"].split("#")[0]
    return contnode if target and (place / target).exists() else None


def setup(app):
    app.add_lexer("bpftrace", ScriptLexer)
    app.connect("missing-reference", outside)
