"""The ways in which an object is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from tools.workspace.recovery.account import Account, Found, Look

LookById = Callable[[Account, str], list[Found]]
"""Finds an object by its id as the provider has it; what AWS is deleting is `Progress.MAKING`."""


class By(Enum):
    """What an object is found by."""

    TAG = "the tag that names the resource"
    NAME = "its name"
    CONTENT = "what it connects"
    READ = "its id, which the provider reads"
    NOTHING = "not looked for"


@dataclass(frozen=True, slots=True)
class Way:
    """How the object of one type of resource is found."""

    by: By
    asks: str
    """The calls, as IAM names them; for those that are not looked for, why that is right."""
    look: Look | None = None
    """None where nothing is looked for."""
    fixed_name: bool = False
    """Whether the program fixes its name, so that one that failed stands in the way of another."""
    look_by_id: LookById | None = None
    """Of a type that its provider cannot read once it is gone: see `gone`."""

    def looked_up_by(self, look_by_id: LookById) -> Way:
        """Return the way of a type that its provider cannot read once it is gone."""
        return replace(self, look_by_id=look_by_id)


def by_tag(asks: str, look: Look) -> Way:
    """Return the way of a type whose ids AWS makes."""
    return Way(By.TAG, asks, look)


def by_name(asks: str, look: Look, *, fixed_name: bool = False) -> Way:
    """Return the way of a type whose id follows from a name in its inputs."""
    return Way(By.NAME, asks, look, fixed_name)


def by_content(asks: str, look: Look) -> Way:
    """Return the way of a type that ties two objects together."""
    return Way(By.CONTENT, asks, look)


def by_reading(why: str, look: Look) -> Way:
    """Return the way of a type whose id is known, and that only its provider can reach."""
    return Way(By.READ, why, look)


def repeated(why: str) -> Way:
    """Return the way of a type that may be made again without harm."""
    return Way(By.NOTHING, why)
