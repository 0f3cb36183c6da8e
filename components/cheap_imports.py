"""Settings that make imports faster; every process imports this module first.

Imported objects live until the end of the process. Scanning them for garbage takes a fifth of the
import time of the SDKs, and a tenth of the time of `check`. The program uses no pydantic plugins,
and searching for plugins reads the metadata of every installed package.
https://docs.python.org/3.11/library/gc.html#gc.set_threshold
https://docs.pydantic.dev/latest/concepts/plugins/
"""

import gc
import os

gc.set_threshold(100_000, 50, 50)
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
