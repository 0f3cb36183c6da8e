"""Run the command line: `python -m tools.cli <command>`."""

import gc
import os
from pathlib import Path

import trainyard.components.cheap_imports  # noqa: F401 - before what costs
from tools.acceptance import ANSWER_SHAPES
from tools.cli.command_line import COMPLETION, PROGRAM, command_line

if directory := os.environ.get(ANSWER_SHAPES):
    from tools.acceptance.answers import record  # 0.2 s, in acceptances only

    record(Path(directory))
try:
    command_line()(prog_name=PROGRAM, complete_var=COMPLETION)
finally:
    # Python searches all objects for garbage when it ends, and the operating system reclaims the
    # memory anyway.
    gc.freeze()
