"""Number of examples of property tests: few in CI, and any number in manual runs."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator


def examples(few: int) -> int:
    """Return the number of examples: `TRAINYARD_FUZZ_EXAMPLES`, or else `few`."""
    return int(os.environ.get("TRAINYARD_FUZZ_EXAMPLES") or few)


@contextlib.contextmanager
def takes_less_than(seconds: float) -> Iterator[None]:
    """Limit the time of the CPU, which other programs of the machine do not change."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds
