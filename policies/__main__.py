"""The policy pack of a clone: the engine runs this file with `policies/` as working directory."""

import sys
from pathlib import Path

_SOURCE = Path(__file__).resolve().parents[1] / "src"
if _SOURCE.is_dir():  # a clone; an installed package is found without this
    sys.path.insert(0, str(_SOURCE))

from trainyard.policies.start import start  # noqa: E402

start()
