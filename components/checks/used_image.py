"""A container image that a stack pulls, and what to do if it does not exist."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.components.catalog.instance_types import Architecture

UPDATE_PROGRAM = "update trainyard, which pins another image"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedImage:
    """A container image that a stack pulls."""

    image: str
    key: str
    """Key of the stack file that decides on it, below `trainyard:cluster`."""
    user: str
    """What pulls it, such as `Kueue`."""
    architectures: frozenset[Architecture]
    """Of the nodes that pull it."""
    remedy: str
    """What to do if it does not exist."""
    later: bool = False
    """Whether only a later command pulls it, so that `up` succeeds without it."""
