"""Settings under which imports cost less; every process of ours imports this before what costs.

What imports make stays to the end, and to look for garbage in it time and again is a fifth of what
the SDKs cost, and a tenth of what `check` does. No plugin of pydantic is meant for this, and to
look for one reads the metadata of every installed package.
https://docs.python.org/3.11/library/gc.html#gc.set_threshold
https://docs.pydantic.dev/latest/concepts/plugins/
"""

import gc
import os

gc.set_threshold(100_000, 50, 50)
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
