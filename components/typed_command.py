"""Commands as the reader of a message can type them."""

from __future__ import annotations

import os
import re
from pathlib import Path

LAUNCHER = "TRAINYARD_LAUNCHER"
"""Environment variable: the command that runs the program, such as `./trainyard`. Unset under plain
`pulumi up`."""
OF_A_CLONE = "./trainyard"
"""The command as the texts of this repository name it: the launcher of a clone."""
_ROOT = Path(__file__).resolve().parents[1]
CLONE = _ROOT if (_ROOT / "trainyard_state.py").is_file() else None
"""Root of the clone that runs; None in an installed package, whose directory has no such file."""
_PAGE = re.compile(r"(?<![\w/.-])docs/[a-z-]+\.md")


def typed_command() -> str:
    """Return how this process was started: `./trainyard` in a clone, `trainyard` of a package."""
    return OF_A_CLONE if CLONE is not None else "trainyard"


def as_typed(text: str) -> str:
    """Return a text with the commands of trainyard as its reader can type them.

    Texts name the launcher and the documents of a clone. A package has the documents in its
    directory.
    """
    command = typed_command()
    if command == OF_A_CLONE:
        return text
    return _PAGE.sub(_document, text.replace(OF_A_CLONE, command))


def _document(page: re.Match[str]) -> str:
    path = _ROOT / page[0]
    return str(path) if path.is_file() else page[0]


def pulumi_command(arguments: str) -> str:
    """Return a command of the Pulumi CLI.

    The launcher provides an engine that is not on the PATH, so its users run it with
    `./trainyard pulumi`. Users of plain `pulumi up` have the CLI.

    Args:
        arguments: The arguments of `pulumi`, quoted for a shell.
    """
    launcher = os.environ.get(LAUNCHER)
    return f"{launcher} pulumi {arguments}" if launcher else f"pulumi {arguments}"
