"""A shell without programs that notes whether somebody's text was obeyed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.text_fields import CANARY

_SILENT = "command_not_found_handle() { return 0; }\n"
"""Every program that is not there succeeds, so that a script runs on to its end."""


def obeyed(script: str, directory: Path) -> bool:
    """Return whether bash, run on a script, makes the file that every hostile text would make.

    Only `touch` and `id` are there; the script has an environment and a directory of its own.

    Raises:
        AssertionError: the script is no bash.
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
        timeout=30,
        check=False,
    )
    return (place / CANARY).exists()


def _found(name: str) -> str:
    found = (Path(each) / name for each in os.defpath.split(os.pathsep))
    return str(next(path for path in found if path.exists()))
