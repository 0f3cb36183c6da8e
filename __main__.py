"""The program of a clone, for plain `pulumi up`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from trainyard.program import run

run()
