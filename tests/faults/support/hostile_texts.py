"""A shell without programs that detects whether it executed a text."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.processes import PATIENCE
from tests.support.text_fields import CANARY

_SILENT = "command_not_found_handle() { return 0; }\n"
"""Every missing program succeeds, so that a script runs to its end."""


def obeyed(script: str, directory: Path) -> bool:
    """Return whether a script, run by bash, creates the file that every hostile text would create.

    Only `touch` and `id` exist; the script has its own environment and directory.

    Raises:
        AssertionError: bash cannot parse the script.
    """
    programs = directory / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("touch", "id"):
        link = programs / name
        if not link.exists():
            link.symlink_to(_found(name))
    place = directory / "place"
    place.mkdir(exist_ok=True)
    checked = subprocess.run(
        ["/bin/bash", "-n"], input=script, text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    subprocess.run(
        ["/bin/bash", "-c", _SILENT + script],
        cwd=place,
        env={"PATH": str(programs), "HOME": str(place)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return (place / CANARY).exists()


def _found(name: str) -> str:
    found = (Path(each) / name for each in os.defpath.split(os.pathsep))
    return str(next(path for path in found if path.exists()))
