"""Start the policy pack: the engine runs this file with `policies/` as working directory."""

import sys
from pathlib import Path

# Import the pack as `policies`, regardless of the working directory.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import components.cheap_imports  # noqa: F401 - before other imports
from policies.pack.configured import served
from policies.pack.discovery import PACK_NAME, POLICIES
from policies.pack.servicer import PackServicer, serve

serve(PackServicer(PACK_NAME, served(POLICIES)))
