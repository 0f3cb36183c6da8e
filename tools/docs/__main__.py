"""Build the documentation site: ``python -m tools.docs``, into ``.trainyard/site``.

Open its ``index.html``: no server and no network is necessary, also for the search. Warnings of
Sphinx and links that lead nowhere are errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.docs.building import SITE, SiteError, build_site
from tools.engine.errors import EngineError


def main(arguments: Sequence[str]) -> int:
    """Build the site. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--output", type=Path, default=SITE, help="directory of the site")
    directory: Path = parser.parse_args(arguments).output
    try:
        first = build_site(directory.resolve(), _say)
    except (SiteError, EngineError, FileExistsError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{first}\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
