"""Waiting for something that another process does."""

import threading
import time
from collections.abc import Callable


def until(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Return as soon as ``condition()`` holds; fail when it does not within ``seconds``."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")
        pause.wait(0.05)
