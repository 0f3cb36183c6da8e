"""How long to look for what breaks: in CI a little, by hand as long as one likes."""

from __future__ import annotations

import os


def examples(few: int) -> int:
    """Return how many examples to try: `few`, or what `TRAINYARD_FUZZ_EXAMPLES` says."""
    return int(os.environ.get("TRAINYARD_FUZZ_EXAMPLES") or few)
