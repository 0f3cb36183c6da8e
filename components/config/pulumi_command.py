"""Commands of the Pulumi CLI as the reader of a message can run them."""

from __future__ import annotations

import os

LAUNCHER = "TRAINYARD_LAUNCHER"
"""Environment variable: the launcher that runs the program, `./trainyard`. Unset under plain
`pulumi up`."""


def pulumi_command(arguments: str) -> str:
    """Return a command of the Pulumi CLI.

    The launcher provides an engine that is not on the PATH, so its users run it with
    `./trainyard pulumi`. Users of plain `pulumi up` have the CLI.

    Args:
        arguments: The arguments of `pulumi`, quoted for a shell.
    """
    launcher = os.environ.get(LAUNCHER)
    return f"{launcher} pulumi {arguments}" if launcher else f"pulumi {arguments}"
