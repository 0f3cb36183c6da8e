"""Which rules of `docs/rules.md` the problems of a plan break.

The requirements name the functions that enforce them, so a problem belongs to the requirements of
the functions that are running, or that have just failed, when it is recorded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import FrameType

from typing_extensions import override

from components.config.review import Review
from tools.policies.requirements import Requirement, requirements

_WORD = re.compile(r"[a-z]{4,}")


@dataclass(slots=True, kw_only=True)
class RuleReview(Review):
    """Problems of a plan, each with the rule that it breaks."""

    rules: list[str] = field(default_factory=list[str])
    """The rule of each problem, in the same order; empty for a problem of no rule."""

    @override
    def refuse(
        self,
        key: str,
        problem: str,
        *,
        remedy: str,
        found: object = None,
        allowed: str | None = None,
    ) -> None:
        """Record a problem and its rule."""
        Review.refuse(self, key, problem, remedy=remedy, found=found, allowed=allowed)
        self.rules.append(_nearest(problem, _broken()))


def _broken() -> Sequence[Requirement]:
    """Return the requirements of the innermost function that has some."""
    by_function = _by_function()
    names = (_name(frame) for frame in _running())
    return next((by_function[name] for name in names if name in by_function), ())


def _running() -> Iterator[FrameType]:
    """Yield the frames of the error that is being handled, then those of the callers."""
    failed = sys.exc_info()[2]
    frames: list[FrameType] = []
    while failed is not None:
        frames.append(failed.tb_frame)
        failed = failed.tb_next
    yield from reversed(frames)
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - what `inspect` reads with its files
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name(frame: FrameType) -> str:
    module = str(frame.f_globals.get("__name__", "")).replace(".", "/")
    return f"{module}:{frame.f_code.co_name}"


@cache
def _by_function() -> Mapping[str, Sequence[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for requirement in requirements().values():
        for name in requirement.enforced.get("plan", ()):
            found.setdefault(name, []).append(requirement)
    return found


def _nearest(problem: str, broken: Sequence[Requirement]) -> str:
    """Return the rule of a function with several that shares most words with the problem."""
    said = set(_WORD.findall(problem.lower()))
    shared = [len(said & set(_WORD.findall(each.holds.lower()))) for each in broken]
    return broken[shared.index(max(shared))].id if broken else ""
