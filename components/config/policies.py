"""Exceptions of a stack from the rules of the policy pack."""

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from trainyard.components.config.base import Form, StrictModel

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
        # Wildcards alone would disable the rule, for which there is `enforcement_level`.
        pattern=r".*[^*?].*",
        expected="the name or the URN of a resource, with `*` and `?` as wildcards",
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
    # YAML reads an unquoted date as a timestamp, and Pulumi passes it in the format of Go:
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
"""A date in UTC, such as `2026-12-01`."""


class Suppression(StrictModel):
    """A resource to which a rule does not apply until a date."""

    resource: SuppressedResource
    """Name or URN of the resource, or a pattern with `*` and `?`."""
    reason: Reason
    """Why the rule does not apply to the resource. Every preview shows it."""
    expires: Day
    """Last day of the suppression, in UTC. After it, the suppression is an error, and the rule
    applies again."""


class RuleSettings(StrictModel):
    """Settings of one rule of the policy pack for the stack."""

    enforcement_level: Literal["advisory", "mandatory", "disabled"] | None = None
    """`mandatory`: a violation fails the preview. `advisory`: the preview shows it. `disabled`: the
    rule does not run. If omitted, the rule's own level."""
    suppressions: list[Suppression] = Field(default_factory=list[Suppression])
    """Resources to which the rule does not apply."""
