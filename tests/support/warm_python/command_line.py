"""`./trainyard`, whose engines start warm processes.

The sandbox passes few of the user's variables to its engines; this adds those of warm processes.
"""

from __future__ import annotations

import os
from typing import Any

from tests.support.warm_python import CLIENT, VARIABLE
from trainyard.sandboxes import session as sandbox_session

MEMORY_FOR_TIME = {"GOGC": "off", "GOMEMLIMIT": "400MiB"}
"""An engine and its plugins spend a fifth of their time on garbage collection, and end soon anyway.
https://pkg.go.dev/runtime#hdr-Environment_Variables"""
STATE_AT_THE_END = {"PULUMI_SKIP_CHECKPOINTS": "true"}
"""An engine writes the whole state after each resource, a third of its time. Tests that kill an
engine need that; the others only need the state at the end.
https://github.com/pulumi/pulumi/issues/10668"""
_plain = sandbox_session.sandbox_environment
"""The original, which is replaced."""


def main() -> None:
    """Run the command line."""
    warm_engines()
    from trainyard.cli.app import app

    app(prog_name="./trainyard")


def warm_engines(*, checkpoints: bool = False) -> None:
    """Make the processes that the engines of this process start warm, if this process is warm.

    Args:
        checkpoints: Whether the engines write the state after each resource, as for users.
    """
    if VARIABLE not in os.environ:
        return
    added = {"PYTHONPATH": str(CLIENT)} | MEMORY_FOR_TIME
    added |= {} if checkpoints else STATE_AT_THE_END

    def warm(*user: Any, **directories: Any) -> dict[str, str]:
        return _plain(*user, **directories) | added

    sandbox_session.sandbox_environment = warm


if __name__ == "__main__":
    main()
