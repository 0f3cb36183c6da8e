"""Run the command line: `python -m tools.cli <command>`."""

import gc
import os

# What the imports make stays to the end: to look for garbage in it time and again is a tenth of
# what `check` costs. https://docs.python.org/3.11/library/gc.html#gc.set_threshold
gc.set_threshold(100_000, 50, 50)
# No plugin of pydantic's is meant for this, and to look for one reads the metadata of every
# installed package. https://docs.pydantic.dev/latest/concepts/plugins/
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from tools.cli.app import app  # noqa: E402 - after what makes it cheap

try:
    app(prog_name="./trainyard")
finally:
    # Leaves what there is to the operating system, which takes it back at once.
    gc.freeze()
