"""Start the policy pack: the engine runs this file with `policies/` as working directory."""

import sys
from pathlib import Path

# The rules are imported as `policies.rules`, from wherever the engine was started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import components.cheap_imports  # noqa: F401 - the first of all
from policies.configured import served
from policies.pack import PACK_NAME, POLICIES
from policies.servicer import PackServicer, serve

serve(PackServicer(PACK_NAME, served(POLICIES)))
