"""The error of a file that exceeds a limit of what is read from others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.importing.source import Location

MOST_ENTRIES = 500
"""Maximum number of entries of a mapping or a list of the stack that a file becomes, such as node
groups. EKS permits 30 node groups of a cluster by default and ParallelCluster 50 queues."""


class ExcessError(Exception):
    """A limit is exceeded; the text says which one, as the rest of a sentence about a file."""


def long_collections(value: Any, at: Location = ()) -> Iterator[tuple[Location, int]]:
    """Yield the collections of a plain value that have too many entries, and how many."""
    if not isinstance(value, dict | list):
        return
    if len(value) > MOST_ENTRIES:
        yield at, len(value)
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from long_collections(each, (*at, key))
