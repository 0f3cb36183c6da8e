"""`./trainyard`, whose engines start warm processes.

The sandbox passes few of the user's variables to its engines; this adds those of warm processes.
"""

from __future__ import annotations

import os
from typing import Any

from tests.support.warm_python import CLIENT, VARIABLE
from tools.cli import sandbox_session

MEMORY_FOR_TIME = {"GOGC": "off", "GOMEMLIMIT": "400MiB"}
"""An engine and its plugins spend a fifth of their time on garbage collection, and end soon anyway.
https://pkg.go.dev/runtime#hdr-Environment_Variables"""
_plain = sandbox_session.sandbox_environment
"""The original, which is replaced."""


def main() -> None:
    """Run the command line."""
    warm_engines()
    from tools.cli.app import app

    app(prog_name="./trainyard")


def warm_engines() -> None:
    """Make the processes that the engines of this process start warm, if this process is warm."""
    if VARIABLE in os.environ:
        sandbox_session.sandbox_environment = _warm


def _warm(*user: Any, **directories: Any) -> dict[str, str]:
    return _plain(*user, **directories) | {"PYTHONPATH": str(CLIENT)} | MEMORY_FOR_TIME


if __name__ == "__main__":
    main()
