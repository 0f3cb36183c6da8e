"""Run the command line: `python -m tools.cli <command>`."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator

import components.cheap_imports  # noqa: F401 - before what costs
from tools.cli.command_line import command_line

LEAVES_NOTHING = {"check", "explain"}
"""Commands that start no process and no thread, and write no file."""


@contextlib.contextmanager
def ended_at_once() -> Iterator[None]:
    """Leave the memory of the process to the operating system, which takes it back at once.

    To take apart what the imports made, object by object, is another tenth of `check`.
    """
    try:
        yield
    except SystemExit as end:
        if sys.argv[1:2] and sys.argv[1] in LEAVES_NOTHING and isinstance(end.code, int):
            # A reader that has gone is told of by the flush of the ordinary end.
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code)
        raise
    finally:
        gc.freeze()


with ended_at_once():
    command_line(sys.argv[1:])(prog_name="./trainyard")
