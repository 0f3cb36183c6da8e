"""What a stack says to rules of the policy pack that do not fit it."""

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from components.config.base import Form, StrictModel

RuleName = Annotated[
    str,
    Form(
        pattern=r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
        expected="the name of a rule, as docs/policies.md lists it",
        example="ebs-encrypted",
    ),
]
SuppressedResource = Annotated[
    str,
    Form(
        # Wildcards alone would be the rule turned off, for which there is `enforcement_level`.
        pattern=r".*[^*?].*",
        expected="the name or the URN of a resource, with `*` and `?` for what differs",
        example="p5-cb-scratch",
    ),
]
Reason = Annotated[
    str,
    Form(
        pattern=r"(?s:.*\S.*)",
        expected="a reason in words",
        example="scratch data only",
        lines=True,
    ),
]


def _day(value: Any) -> Any:
    # YAML reads a day without quotes as a time, and Pulumi hands it on as Go prints one:
    # `2026-12-01 00:00:00 +0000 UTC`.
    if not isinstance(value, str):
        return value
    printed = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?: 00:00:00 \+0000 \S+)?", value)
    try:
        return date.fromisoformat(printed[1]) if printed else value
    except ValueError:
        return value


Day = Annotated[
    date, BeforeValidator(_day, json_schema_input_type=date), Field(examples=["2026-12-01"])
]
"""A day in UTC, such as `2026-12-01`."""


class Suppression(StrictModel):
    """A resource for which a rule does not count, until a day."""

    resource: SuppressedResource
    """Name of the resource, its URN, or a pattern of either with `*` and `?`."""
    reason: Reason
    """Why the rule does not count there; every preview repeats it."""
    expires: Day
    """Last day of the suppression, in UTC. After it the suppression is an error, and the violation
    counts again."""


class RuleSettings(StrictModel):
    """How the stack is judged by one rule of the policy pack."""

    enforcement_level: Literal["advisory", "mandatory", "disabled"] | None = None
    """`mandatory`: a violation fails the preview; `advisory`: it is shown; `disabled`: the rule
    does not run. Left out, the rule's own level."""
    suppressions: list[Suppression] = Field(default_factory=list[Suppression])
    """Resources for which the rule does not count."""
