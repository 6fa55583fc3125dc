"""Settings of Sphinx for the site that ``make docs`` builds; ``tools/site`` makes its pages."""

import builtins
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from tools.site.api import public_bases
from usp import __version__

project = "usp"
author = "the usp authors"
copyright = author  # noqa: A001 -- the name that Sphinx reads
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

# Anchors as GitHub makes them, so that links hold there and here.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries = False  # a menu of all names would be slow to make; pages begin with theirs
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

# Names of this project must lead somewhere. The inventories of other projects would have to be
# fetched, and the site is built without a network.
nitpick_ignore_regex = [(r"py:.*", r"(?!usp\b).*")]
nitpick_ignore = [("py:class", "usp.tables.ReadFields")]  # the keywords of usp.iter_pages

smartquotes = False  # it would make a dash of the two hyphens of an option

html_theme = "furo"
html_title = f"usp {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("search_order.js"))
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"


def keep_public_bases(
    _app: Sphinx, _name: str, documented: type, _options: object, bases: list[type]
) -> None:
    """Leave out bases that are documented nowhere."""
    bases[:] = public_bases(documented)


def unlink_builtins(_app: Sphinx, document: nodes.document) -> None:
    """Leave builtins without a link: ``bytes`` would lead to any attribute of that name."""
    for reference in list(document.findall(addnodes.pending_xref)):
        if hasattr(builtins, reference.get("reftarget", "")):
            reference.replace_self(nodes.Text(reference["reftarget"]))


def setup(app: Sphinx) -> None:
    """Connect what settings can't say."""
    app.connect("autodoc-process-bases", keep_public_bases)
    app.connect("doctree-read", unlink_builtins)
