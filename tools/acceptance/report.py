"""The report of an acceptance: what passed, and how long AWS took compared with the assumptions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from components.secret_documents import hidden
from sandbox.latency.model import latency_model
from tools.acceptance.steps import Record
from tools.pages.page import escaped, page, paragraph, section, table
from tools.progress.operation import short_type

_CREATED = re.compile(
    r"^created (\S+) \S+ \((?:(\d+) h)? ?(?:(\d+) min)? ?(?:(\d+) s)?\)$", re.MULTILINE
)
_CONFIRMED = 2.0
"""A time is confirmed if it is between half of the assumed one and twice as long."""
_SHORTEST_SECONDS = 10.0
"""Assumed times below it are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """The time that a resource was assumed to take, and what it took."""

    type: str
    assumed_seconds: float
    seen_seconds: float

    @property
    def confirmed(self) -> bool:
        """Whether it took about as long as assumed."""
        ratio = self.seen_seconds / self.assumed_seconds
        return 1 / _CONFIRMED <= ratio <= _CONFIRMED


def assumptions(said: str) -> list[Assumption]:
    """Return the longest time of each type that `up` created, with the assumed one.

    Args:
        said: Output of `up` without a terminal.
    """
    assumed = {
        short_type(token): max(each.seconds.get("create", 0.0) for each in entries)
        for token, entries in latency_model().types.items()
    }
    seen: dict[str, float] = {}
    for type_, hours, minutes, seconds in _CREATED.findall(said):
        took = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
        seen[type_] = max(took, seen.get(type_, 0.0))
    return [
        Assumption(type=type_, assumed_seconds=assumed[type_], seen_seconds=took)
        for type_, took in sorted(seen.items())
        if assumed.get(type_, 0.0) >= _SHORTEST_SECONDS
    ]


def as_json(record: Record, compared: Sequence[Assumption]) -> str:
    """Return the report as JSON."""
    return json.dumps(hidden(_values(record, compared)), indent=2) + "\n"


def as_html(record: Record, compared: Sequence[Assumption]) -> str:
    """Return the report as a page that needs no other file."""
    where = "the sandbox: emulated AWS" if record.sandbox else "AWS"
    steps = [(each.name, each.result, f"{each.seconds:g} s", each.reason) for each in record.done]
    times = [
        (
            each.type,
            "confirmed" if each.confirmed else "contradicted",
            f"{each.assumed_seconds:g} s",
            f"{each.seen_seconds:g} s",
        )
        for each in compared
    ]
    left = "".join(f"<li>{escaped(each)}</li>" for each in record.left_behind)
    return page(
        f"Acceptance of {record.stack} on {where}",
        paragraph(f"Began {record.began}."),
        _results(("Step", "Result", "Time", "Reason"), steps),
        section(
            "Assumed and seen times",
            _results(("Resource type", "Result", "Assumed", "Seen"), times),
        ),
        section("Left behind", f"<ul>{left or '<li>nothing</li>'}</ul>"),
    )


def _results(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return table(header, rows, results=[row[1] for row in rows])


def _values(record: Record, compared: Sequence[Assumption]) -> Mapping[str, Any]:
    return {
        "stack": record.stack,
        "account": "sandbox" if record.sandbox else "AWS",
        "began": record.began,
        "passed": record.passed,
        "steps": [asdict(each) for each in record.done],
        "assumptions": [{**asdict(each), "confirmed": each.confirmed} for each in compared],
        "left_behind": record.left_behind,
    }
