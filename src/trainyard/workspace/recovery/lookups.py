"""Methods to find an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from trainyard.workspace.recovery.account import FoundObject, Look, LookupAccount

LookById = Callable[[LookupAccount, str], list[FoundObject]]
"""Finds an object by its id in the provider's form; an object in deletion is `Progress.MAKING`."""


class By(Enum):
    """The property by which an object is found."""

    TAG = "the tag with the resource name"
    NAME = "its name"
    CONTENT = "the objects that it connects"
    READ = "its id, which the provider reads"
    NOTHING = "not looked up"


@dataclass(frozen=True, slots=True)
class Lookup:
    """How the object of one type of resource is found."""

    by: By
    asks: str
    """The calls by their IAM names; for types without lookup, the reason why none is necessary."""
    look: Look | None = None
    """None if there is no lookup."""
    fixed_name: bool = False
    """Whether the program sets the name, so that a failed object blocks its replacement."""
    look_by_id: LookById | None = None
    """Lookup for types whose deleted objects the provider cannot read: see `gone`."""

    def looked_up_by(self, look_by_id: LookById) -> Lookup:
        """Return the method for a type whose deleted objects the provider cannot read."""
        return replace(self, look_by_id=look_by_id)


def by_tag(asks: str, look: Look) -> Lookup:
    """Return the method for a type with ids that AWS generates."""
    return Lookup(By.TAG, asks, look)


def by_name(asks: str, look: Look, *, fixed_name: bool = False) -> Lookup:
    """Return the method for a type whose id follows from a name in its inputs."""
    return Lookup(By.NAME, asks, look, fixed_name)


def by_content(asks: str, look: Look) -> Lookup:
    """Return the method for a type that associates two objects."""
    return Lookup(By.CONTENT, asks, look)


def by_reading(why: str, look: Look) -> Lookup:
    """Return the method for a type with a known id that only its provider can read."""
    return Lookup(By.READ, why, look)


def repeated(why: str) -> Lookup:
    """Return the method for a type that can be created again without harm."""
    return Lookup(By.NOTHING, why)
