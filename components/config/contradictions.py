"""Contradictions within one section of a stack file, reported together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import PydanticCustomError

Contradiction = dict[str, str]
"""Key, problem, reason, allowed values and fix."""


def fault(key: str, problem: str, *, why: str, allowed: str, remedy: str) -> Contradiction:
    """Return one contradiction.

    Args:
        key: Key in the section, such as `iops`.
        problem: The problem, as text that follows the key.
        why: The reason, for the message.
        allowed: Allowed values.
        remedy: What to write instead.
    """
    return {"key": key, "problem": problem, "why": why, "allowed": allowed, "remedy": remedy}


def place_faults(
    *, subnet_id: str | None, availability_zone: str | None
) -> Iterator[Contradiction]:
    """Yield a problem if both a subnet and a zone are set."""
    if subnet_id is not None and availability_zone is not None:
        yield fault(
            "availability_zone",
            "is given together with subnet_id",
            why="the subnet already determines the zone",
            allowed="one of availability_zone and subnet_id",
            remedy="remove availability_zone",
        )


def backup_time_faults(*, backup_time: str | None, retention_days: int) -> Iterator[Contradiction]:
    """Yield a problem if a backup time is set but backups are disabled."""
    if backup_time is not None and not retention_days:
        yield fault(
            "backup_time",
            "is given without backups",
            why="backup_retention_days is 0, which disables backups",
            allowed="no backup_time, or backup_retention_days from 1 to 90",
            remedy="set backup_retention_days, or remove backup_time",
        )


def key_faults(*, kms_key_arn: str | None, encrypted: bool) -> Iterator[Contradiction]:
    """Yield a problem if a KMS key is set but encryption is disabled."""
    if kms_key_arn is not None and not encrypted:
        yield fault(
            "kms_key_arn",
            "is given with encrypted: false",
            why="without encryption the key is not used",
            allowed="no kms_key_arn, or encrypted: true",
            remedy="remove encrypted",
        )


def raise_all(found: Iterable[Contradiction]) -> None:
    """End the validation of a model.

    Raises:
        PydanticCustomError: `found` is not empty.
    """
    every = list(found)
    if every:
        raise PydanticCustomError("contradictions", "does not fit together", {"all": every})
