"""Where the Python processes of tests find the modules of this repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
"""The path of `trainyard`, and of `tests` and `tools`; the launcher sets the same."""
