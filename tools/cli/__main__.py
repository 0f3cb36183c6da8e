"""Run the command line: `python -m tools.cli <command>`."""

import gc

import components.cheap_imports  # noqa: F401 - before what costs
from tools.cli.command_line import COMPLETION, PROGRAM, command_line

try:
    command_line()(prog_name=PROGRAM, complete_var=COMPLETION)
finally:
    # Python searches all objects for garbage when it ends, and the operating system reclaims the
    # memory anyway.
    gc.freeze()
