"""Look at the pages of the site in a real browser; `docs/screenshots.py` does it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tools.docs.building import SiteError, docs_python
from tools.engine.progress import Progress
from tools.workspace.checkout import ROOT

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs of Debian, other distributions and Google."""


def take_screenshots(site: Path, pictures: Path, report: Progress) -> None:
    """Write a picture of each page in two widths, and check what a reader would stumble over.

    Args:
        site: The directory of a built site.
        pictures: Directory of the pictures.
        report: Receives progress messages.

    Raises:
        EngineError: the environment of the documentation cannot be created.
        SiteError: there is no Chromium, or a page has a problem; the message lists all.
    """
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        raise SiteError(
            f"none of {', '.join(CHROMIUMS)} is on the PATH; on Debian: "
            "`apt-get install --no-install-recommends chromium-headless-shell`"
        )
    program = ROOT / "docs" / "screenshots.py"
    done = subprocess.run(
        [docs_python(report), program, site, pictures, chromium],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SiteError(f"{done.stdout}{done.stderr}".strip())
