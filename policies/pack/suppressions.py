"""Suppressions: violations that a team accepts for one resource until a date.

A suppression is part of the configuration of its rule. The pack reports a suppressed violation as
an advisory. After its last day the suppression is an error, and the violation counts again.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from trainyard.components import clock

SUPPRESSIONS = "suppressions"
"""Key in the configuration of a rule."""

SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "description": (
        "Resources for which the rule does not count, each with a reason and a last day. "
        "`resource` is a name, a URN, or a pattern of either with `*` and `?`."
    ),
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["resource", "reason", "expires"],
        "properties": {
            # Not only wildcards: `enforcementLevel` disables a rule.
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
"""JSON Schema of the key; the engine validates it before a rule runs."""


def today() -> date:
    """Return the current date in UTC, so that it is the same for all users."""
    return clock.now().date()


@dataclass(frozen=True, slots=True)
class Suppression:
    """One entry in the configuration of a rule."""

    rule: str
    resource: str
    """Name, URN, or a pattern of either."""
    reason: str
    expires: date
    """The last day on which it applies."""

    def covers(self, name: str, urn: str) -> bool:
        """Whether it applies to a resource."""
        return self.resource in (name, urn) or any(
            fnmatch.fnmatchcase(text, self.resource.replace("[", "[[]")) for text in (name, urn)
        )

    def has_expired(self, day: date) -> bool:
        """Whether its last day is over."""
        return day > self.expires


def suppressions_of(rule: str, config: Mapping[str, Any]) -> list[Suppression]:
    """Return the suppressions in the configuration of a rule, which fits `SCHEMA`."""
    return [
        Suppression(
            rule, entry["resource"], entry["reason"].strip(), date.fromisoformat(entry["expires"])
        )
        for entry in config.get(SUPPRESSIONS) or ()
    ]


class Ledger:
    """Records which suppressions applied during the analysis of one stack.

    Several threads write to it. Each writes whole entries, which never change.

    Args:
        day: returns the current date.
    """

    def __init__(self, day: Callable[[], date] = today) -> None:
        self._day = day
        self._seen: dict[Suppression, None] = {}
        self._covered: dict[tuple[Suppression, str, str], None] = {}

    def see(self, suppressions: Sequence[Suppression]) -> None:
        """Record the suppressions of a rule."""
        self._seen.update(dict.fromkeys(suppressions))

    def judge(
        self, suppressions: Sequence[Suppression], name: str, urn: str, message: str
    ) -> str | None:
        """Return the message to report for a violation, or None if it is suppressed."""
        found = [each for each in suppressions if each.covers(name, urn)]
        holding = next((each for each in found if not each.has_expired(self._day())), None)
        if holding is not None:
            self._covered[holding, urn, message] = None
            return None
        if found:
            return f"{message} ({_expired(found[0])})"
        return message

    def used(self) -> Iterator[tuple[str, str]]:
        """Yield the URN and a message for each suppressed violation."""
        for suppression, urn, message in list(self._covered):
            yield (
                urn,
                (
                    f"{suppression.rule} is suppressed until {suppression.expires}, because "
                    f"{suppression.reason!r}; it would say: {message}"
                ),
            )

    def unused(self) -> Iterator[str]:
        """Yield a message for each active suppression that covered no violation."""
        used = {suppression for suppression, _, _ in list(self._covered)}
        for each in list(self._seen):
            if each not in used and not each.has_expired(self._day()):
                yield (
                    f"the suppression of {each.rule} for {each.resource!r} until {each.expires}, "
                    f"because {each.reason!r}, covers no violation; remove it"
                )

    def expired(self) -> Iterator[str]:
        """Yield a message for each expired suppression."""
        for each in list(self._seen):
            if each.has_expired(self._day()):
                yield (
                    f"{each.rule}, {each.resource}: {_expired(each)}; fix the resource and remove "
                    "the suppression, or give it a later day in expires"
                )


def _expired(suppression: Suppression) -> str:
    return (
        f"its suppression expired on {suppression.expires}; the reason was {suppression.reason!r}"
    )
