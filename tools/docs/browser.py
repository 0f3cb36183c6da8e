"""Look at the pages of the site in a real browser; `docs/screenshots.py` does it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tools.docs.building import SiteError, docs_python
from tools.programs.chromium import ensure_chromium
from tools.repository import ROOT
from trainyard.sandbox.engine.progress import Progress


def take_screenshots(site: Path, pictures: Path, report: Progress) -> None:
    """Write a picture of each page in two widths, and check what a reader would stumble over.

    Args:
        site: The directory of a built site.
        pictures: Directory of the pictures.
        report: Receives progress messages.

    Raises:
        EngineError: there is no Chromium, or no environment of the documentation.
        SiteError: a page has a problem; the message lists all.
    """
    chromium = ensure_chromium(report)
    program = ROOT / "docs" / "screenshots.py"
    done = subprocess.run(
        [docs_python(report), program, site, pictures, chromium.program],
        env={**os.environ, **chromium.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SiteError(f"{done.stdout}{done.stderr}".strip())
