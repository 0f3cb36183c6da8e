"""Waiting for the effect of another process."""

import threading
import time
from collections.abc import Callable


def until(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Return as soon as ``condition()`` holds; fail if it does not within ``seconds``."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")
        pause.wait(0.05)
