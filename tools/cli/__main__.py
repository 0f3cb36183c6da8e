"""Run the command line: `python -m tools.cli <command>`."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator

# What the imports make stays to the end: to look for garbage in it time and again is a tenth of
# what `check` costs. https://docs.python.org/3.11/library/gc.html#gc.set_threshold
gc.set_threshold(100_000, 50, 50)
# No plugin of pydantic's is meant for this, and to look for one reads the metadata of every
# installed package. https://docs.pydantic.dev/latest/concepts/plugins/
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from tools.cli.command_line import command_line  # noqa: E402 - after what makes it cheap

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
