"""Copy the output of a child as it arrives, and keep the end of it."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import IO, TextIO

KEPT_BYTES = 16384
_END_SECONDS = 1.0


class Relay:
    """Reads a pipe in a separate thread and writes to a stream of this process."""

    def __init__(self, source: IO[bytes], target: TextIO) -> None:
        """Start the thread."""
        self._source, self._target = source, target
        self._kept = b""
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def last_words(self) -> str:
        """Return the end of the output, once the child has ended.

        The pipe may outlive the child, because a plugin that a killed engine left behind also holds
        it. This method does not wait for such a plugin.
        """
        self._thread.join(_END_SECONDS)
        return self._kept.decode("utf-8", errors="replace")

    def _pass_on(self) -> None:
        with self._source as source:
            while piece := os.read(source.fileno(), KEPT_BYTES):
                self._kept = (self._kept + piece)[-KEPT_BYTES:]
                # The reader of the target stream may be gone; that must not stop the child.
                with contextlib.suppress(OSError, ValueError):
                    self._target.write(piece.decode("utf-8", errors="replace"))
                    self._target.flush()
