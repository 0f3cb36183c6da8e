"""Problems for values beyond a limit of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainyard.components.config.finding import Finding
from trainyard.components.config.problems import Problem

# Error types of pydantic: https://docs.pydantic.dev/latest/errors/validation_errors/
_WORDS: Mapping[str, tuple[str, str, str]] = {
    "greater_than_equal": ("ge", "is less than {}", "at least {}"),
    "greater_than": ("gt", "is not more than {}", "more than {}"),
    "less_than_equal": ("le", "is more than {}", "at most {}"),
    "less_than": ("lt", "is not less than {}", "less than {}"),
    "too_short": ("min_length", "has too few entries", "at least {}"),
    "too_long": ("max_length", "has too many entries", "at most {}"),
    "string_too_short": ("min_length", "is too short", "at least {} characters"),
    "string_too_long": ("max_length", "is too long", "at most {} characters"),
}
"""Limit key, problem and allowed values, by error type."""
LIMITS = tuple(_WORDS)
"""Error types that `explain_limit` handles."""


def explain_limit(finding: Finding) -> list[Problem]:
    """Return the problem of a number, list or string beyond its limit."""
    kind = finding.error["type"]
    name, problem, allowed = _WORDS[kind]
    limit = str(finding.context[name])
    if finding.location[-1:] == ("[key]",):
        entry = replace(finding, location=finding.location[:-1])
        return [
            Problem(
                path=entry.path,
                problem=f"is a key that {problem}".format(limit),
                allowed=allowed.format(limit),
                remedy="rename this entry",
            )
        ]
    return [
        Problem(
            path=finding.path,
            problem=problem.format(limit),
            found=finding.found,
            allowed=allowed.format(limit),
            remedy=_remedy(finding, allowed.format(limit)),
        )
    ]


def _remedy(finding: Finding, allowed: str) -> str:
    kind = finding.error["type"]
    if kind == "too_short" and isinstance(finding.found, Mapping):
        return "add an entry in the stack file"
    if kind == "too_short":
        return finding.example_of(finding.example, (*finding.location, 0))
    # The limit itself may break another rule.
    return f"give a value of {allowed}"
