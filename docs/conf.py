"""Settings of Sphinx for the documentation site, which `python -m tools.docs` builds.

The site has the same tree as the repository, so that links lead to the same place here and where
the files are read as they are. Sphinx and its extensions are in the environment of
`requirements/docs.txt`.
"""

from __future__ import annotations

from pathlib import Path

import mmdr
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from tools.docs.navigation import CONTENTS, with_navigation

ROOT = Path(__file__).resolve().parents[1]

project = "trainyard"
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = CONTENTS[0]
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**.md", "*/**/README.md"]
exclude_patterns = [".*", "**/__pycache__", "**/node_modules"]
highlight_language = "none"

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]

html_title = "trainyard"
html_theme = "furo"
html_theme_options = {"footer_icons": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp, .go"


class Mermaid(Directive):
    """A diagram, drawn while the site is built, so that the page needs no script."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the diagram as SVG."""
        svg = mmdr.render("\n".join(self.content)).svg()
        return [nodes.raw("", f'<div class="diagram">{svg}</div>', format="html")]


def listed(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the order of the pages into those that list them; other directories are not listed."""
    if page in CONTENTS:
        source[0] = with_navigation(page, source[0])
    elif page.endswith("/README"):
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"


def setup(app: Sphinx) -> None:
    """Add what this file defines to Sphinx."""
    app.add_directive("mermaid", Mermaid)
    app.connect("source-read", listed)
