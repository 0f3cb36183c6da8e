"""Waiting for the effect of another process."""

import threading
import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds after which something that a test waits for will not happen, on the busiest machine."""


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Return as soon as ``condition()`` holds; fail if it does not within ``seconds``."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")
        pause.wait(0.05)
