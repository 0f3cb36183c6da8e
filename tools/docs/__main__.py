"""Build the documentation site: ``python -m tools.docs``, into ``.trainyard/site``.

Open its ``index.html``: no server and no network is necessary, also for the search. Warnings of
Sphinx and links that lead nowhere are errors. ``--screenshots`` also looks at every page in
Chromium.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.docs.browser import take_screenshots
from tools.docs.building import SITE, SiteError, build_site
from trainyard.sandbox.engine.errors import EngineError


def main(arguments: Sequence[str]) -> int:
    """Build the site. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--output", type=Path, default=SITE, help="directory of the site")
    parser.add_argument("--screenshots", type=Path, help="directory of pictures of all pages")
    options = parser.parse_args(arguments)
    directory: Path = options.output.resolve()
    try:
        first = build_site(directory, _say)
        if options.screenshots:
            take_screenshots(directory, options.screenshots.resolve(), _say)
    except (SiteError, EngineError, FileExistsError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{first}\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
