"""Number of examples of property tests: few in CI, and any number in manual runs."""

from __future__ import annotations

import os


def examples(few: int) -> int:
    """Return the number of examples: `TRAINYARD_FUZZ_EXAMPLES`, or else `few`."""
    return int(os.environ.get("TRAINYARD_FUZZ_EXAMPLES") or few)
