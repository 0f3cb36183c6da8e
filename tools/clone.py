"""The command line of a clone: the commands of the package, and `test`."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.__main__ import main
from trainyard.cli.command_line import COMMANDS as PACKAGED
from trainyard.cli.command_line import PASSES_ARGUMENTS_ON, Command

COMMANDS: Mapping[str, Command] = {
    **PACKAGED,
    "test": Command(
        "test",
        "Test this checkout, or a part of it.",
        PASSES_ARGUMENTS_ON,
        package="tools",
    ),
}
"""The commands, in the order of `--help`."""

if __name__ == "__main__":
    main(COMMANDS)
