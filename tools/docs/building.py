"""Build the site with Sphinx, in the environment of its lock. Nothing is read from the network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tools.docs.built_site import problems
from tools.lock import DOCS
from tools.repository import ROOT
from trainyard.sandbox.engine.locked_environment import locked_python
from trainyard.sandbox.engine.progress import Progress

SITE = ROOT / ".trainyard" / "site"
"""Where the site is, if no other directory is named."""


class SiteError(Exception):
    """The site has warnings or problems; the message lists all of them."""


def docs_python(report: Progress) -> Path:
    """Return the interpreter with Sphinx.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return locked_python(ROOT / DOCS.path, "the documentation", report)


def build_site(directory: Path, report: Progress) -> Path:
    """Build the site, check it, and return its first page.

    Args:
        directory: Becomes the site; a site that was built there before is replaced.
        report: Receives progress messages.

    Raises:
        EngineError: the environment of Sphinx cannot be created.
        SiteError: Sphinx warned, or the pages have links that lead nowhere.
        FileExistsError: the directory has something else.
    """
    if directory.exists():
        if not (directory / "searchindex.js").exists() and any(directory.iterdir()):
            raise FileExistsError(f"{directory} is not a site that was built before")
        shutil.rmtree(directory)
    done = subprocess.run(
        [
            *(str(docs_python(report)), "-m", "sphinx", "--builder", "html"),
            *("--conf-dir", "docs", "--doctree-dir", str(directory.with_suffix(".doctrees"))),
            *("--fresh-env", "--fail-on-warning", "--quiet", ".", str(directory)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(directory.with_suffix(".doctrees"), ignore_errors=True)
    if done.returncode:
        raise SiteError(f"{done.stdout}{done.stderr}".strip())
    found = list(problems(directory))
    if found:
        raise SiteError("\n".join(found))
    return directory / "index.html"
