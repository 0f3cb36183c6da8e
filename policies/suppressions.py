"""Violations that somebody took on knowingly, for one resource, until a day.

A suppression stands in the configuration of its rule. A violation that it covers is not reported
as one; that it was covered is reported as an advisory. After its last day it is an error itself,
and the violation counts again.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

SUPPRESSIONS = "suppressions"
"""Key of a rule's configuration."""

SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "description": (
        "Resources for which the rule does not count, each with a reason and the last day of "
        "that. `resource` is a name, a URN, or a pattern of either with `*` and `?`."
    ),
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["resource", "reason", "expires"],
        "properties": {
            # Not wildcards alone: that would be a rule turned off, which `enforcementLevel` does.
            "resource": {"type": "string", "pattern": "[^*?]"},
            "reason": {"type": "string", "pattern": "[^\\s]"},
            "expires": {
                "type": "string",
                "format": "date",
                "pattern": "^\\d{4}-\\d{2}-\\d{2}$",
            },
        },
    },
}
"""JSON Schema of the key; the engine refuses what does not fit before a rule runs."""


def today() -> date:
    """Return the day, in UTC so that it is the same for everybody."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Suppression:
    """One entry of a rule's configuration."""

    rule: str
    resource: str
    """Name, URN, or a pattern of either."""
    reason: str
    expires: date
    """The last day on which it holds."""

    def covers(self, name: str, urn: str) -> bool:
        """Whether a resource is meant."""
        return self.resource in (name, urn) or any(
            fnmatch.fnmatchcase(text, self.resource.replace("[", "[[]")) for text in (name, urn)
        )

    def has_expired(self, day: date) -> bool:
        """Whether its last day is over."""
        return day > self.expires


def suppressions_of(rule: str, config: Mapping[str, Any]) -> list[Suppression]:
    """Return the suppressions in the configuration of a rule, of the form of `SCHEMA`."""
    return [
        Suppression(
            rule, entry["resource"], entry["reason"].strip(), date.fromisoformat(entry["expires"])
        )
        for entry in config.get(SUPPRESSIONS) or ()
    ]


class Ledger:
    """What became of every suppression of the pack while one stack was judged.

    Resources are judged in several threads, but each entry is written whole and never changed.

    Args:
        day: gives the day of now.
    """

    def __init__(self, day: Callable[[], date] = today) -> None:
        self._day = day
        self._seen: dict[Suppression, None] = {}
        self._covered: dict[tuple[Suppression, str, str], None] = {}

    def see(self, suppressions: Sequence[Suppression]) -> None:
        """Take note of the suppressions of a rule, whether or not anything comes of them."""
        self._seen.update(dict.fromkeys(suppressions))

    def judge(
        self, suppressions: Sequence[Suppression], name: str, urn: str, message: str
    ) -> str | None:
        """Return what to report of a violation: its message, or None where it is suppressed."""
        found = [each for each in suppressions if each.covers(name, urn)]
        holding = next((each for each in found if not each.has_expired(self._day())), None)
        if holding is not None:
            self._covered[holding, urn, message] = None
            return None
        if found:
            return f"{message} ({_expired(found[0])})"
        return message

    def used(self) -> Iterator[tuple[str, str]]:
        """Yield the URN and a message for each violation that was suppressed."""
        for suppression, urn, message in list(self._covered):
            yield (
                urn,
                (
                    f"{suppression.rule} is suppressed until {suppression.expires}, because "
                    f"{suppression.reason!r}; it would say: {message}"
                ),
            )

    def unused(self) -> Iterator[str]:
        """Yield a message for each suppression that holds and covered nothing."""
        used = {suppression for suppression, _, _ in list(self._covered)}
        for each in list(self._seen):
            if each not in used and not each.has_expired(self._day()):
                yield (
                    f"the suppression of {each.rule} for {each.resource!r} until {each.expires}, "
                    f"because {each.reason!r}, covers no violation; remove it"
                )

    def expired(self) -> Iterator[str]:
        """Yield a message for each suppression that does not hold any more."""
        for each in list(self._seen):
            if each.has_expired(self._day()):
                yield (
                    f"{each.rule}, {each.resource}: {_expired(each)}; mend the resource and remove "
                    "the suppression, or give it a later day in expires"
                )


def _expired(suppression: Suppression) -> str:
    return (
        f"its suppression expired on {suppression.expires}; the reason was {suppression.reason!r}"
    )
