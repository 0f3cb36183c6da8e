"""Run the command line: `trainyard <command>`, or `python -m trainyard <command>`."""

import gc
import os
from collections.abc import Mapping
from pathlib import Path

import trainyard.components.cheap_imports  # noqa: F401 - before what costs
from trainyard.acceptance import ANSWER_SHAPES
from trainyard.cli.command_line import COMMANDS, COMPLETION, PROGRAM, Command, command_line
from trainyard.cli.streams import standard_streams


def main(commands: Mapping[str, Command] = COMMANDS) -> None:
    """Run the command that the arguments of this process name, and exit with its code."""
    if directory := os.environ.get(ANSWER_SHAPES):
        from trainyard.acceptance.answers import record  # 0.2 s, in acceptances only

        record(Path(directory))
    try:
        with standard_streams():
            command_line(commands)(prog_name=PROGRAM, complete_var=COMPLETION)
    finally:
        # Python searches all objects for garbage when it ends, and the operating system reclaims
        # the memory anyway.
        gc.freeze()


if __name__ == "__main__":
    main()
