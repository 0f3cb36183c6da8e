"""Everything that does not fit together in one part of a stack file, collected and said at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import PydanticCustomError

Contradiction = dict[str, str]
"""Key, problem, reason, what is allowed, and the fix."""


def fault(key: str, problem: str, *, why: str, allowed: str, remedy: str) -> Contradiction:
    """Return one contradiction.

    Args:
        key: Key of the part, such as `iops`.
        problem: What is wrong, in words that follow the key.
        why: The reason, for people.
        allowed: What can stand there.
        remedy: What to write instead.
    """
    return {"key": key, "problem": problem, "why": why, "allowed": allowed, "remedy": remedy}


def place_faults(
    *, subnet_id: str | None, availability_zone: str | None
) -> Iterator[Contradiction]:
    """Yield what is wrong where a place is given by subnet and by zone."""
    if subnet_id is not None and availability_zone is not None:
        yield fault(
            "availability_zone",
            "stands beside subnet_id",
            why="the subnet lies in one zone",
            allowed="one of availability_zone and subnet_id",
            remedy="remove availability_zone",
        )


def backup_time_faults(*, backup_time: str | None, retention_days: int) -> Iterator[Contradiction]:
    """Yield what is wrong where a time is given for backups that nobody asks for."""
    if backup_time is not None and not retention_days:
        yield fault(
            "backup_time",
            "is given without backups",
            why="backup_retention_days is 0, so there are none",
            allowed="no backup_time, or backup_retention_days from 1 to 90",
            remedy="add backup_retention_days, or remove backup_time",
        )


def key_faults(*, kms_key_arn: str | None, encrypted: bool) -> Iterator[Contradiction]:
    """Yield what is wrong where a key is given for data that is not encrypted."""
    if kms_key_arn is not None and not encrypted:
        yield fault(
            "kms_key_arn",
            "is given with encrypted: false",
            why="the key would encrypt nothing",
            allowed="no kms_key_arn, or encrypted: true",
            remedy="remove encrypted",
        )


def raise_all(found: Iterable[Contradiction]) -> None:
    """End the validation of a model.

    Raises:
        PydanticCustomError: there is a contradiction.
    """
    every = list(found)
    if every:
        raise PydanticCustomError("contradictions", "does not fit together", {"all": every})
