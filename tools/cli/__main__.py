"""Run the command line: `python -m tools.cli <command>`."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator

import components.cheap_imports  # noqa: F401 - before what costs
from tools.cli.command_line import command_line

LEAVES_NOTHING = {"check", "explain"}
"""Commands that start no process or thread and write no file."""


@contextlib.contextmanager
def ended_at_once() -> Iterator[None]:
    """End the process without freeing its memory, which the operating system reclaims at once.

    Freeing the imported objects one by one takes another tenth of the time of `check`.
    """
    try:
        yield
    except SystemExit as end:
        if sys.argv[1:2] and sys.argv[1] in LEAVES_NOTHING and isinstance(end.code, int):
            # If the reader is gone, the flush at the regular end reports it.
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code)
        raise
    finally:
        gc.freeze()


with ended_at_once():
    command_line()(prog_name="./trainyard")
