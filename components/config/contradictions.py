"""Everything that does not fit together in one part of a stack file, collected and said at once."""

from __future__ import annotations

from collections.abc import Iterable

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


def raise_all(found: Iterable[Contradiction]) -> None:
    """End the validation of a model.

    Raises:
        PydanticCustomError: there is a contradiction.
    """
    every = list(found)
    if every:
        raise PydanticCustomError("contradictions", "does not fit together", {"all": every})
