"""`./trainyard`, whose engines start warm processes.

The sandbox gives its engines few variables of the user; this adds what makes a process warm.
"""

from __future__ import annotations

import os
from typing import Any

from tests.support.warm_python import CLIENT, VARIABLE
from tools.cli import sandbox_session

MEMORY_FOR_TIME = {"GOGC": "off", "GOMEMLIMIT": "400MiB"}
"""An engine and its plugins look for garbage a fifth of their time, and end soon anyway.
https://pkg.go.dev/runtime#hdr-Environment_Variables"""
_plain = sandbox_session.sandbox_environment
"""As it is before another one is put in its place."""


def main() -> None:
    """Run the command line."""
    warm_engines()
    from tools.cli.app import app

    app(prog_name="./trainyard")


def warm_engines() -> None:
    """Let what the engines of this process start be warm, if this process is."""
    if VARIABLE in os.environ:
        sandbox_session.sandbox_environment = _warm


def _warm(*user: Any, **directories: Any) -> dict[str, str]:
    return _plain(*user, **directories) | {"PYTHONPATH": str(CLIENT)} | MEMORY_FOR_TIME


if __name__ == "__main__":
    main()
