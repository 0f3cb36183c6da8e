"""Field types of free text: tags, labels, environment variables, parameters."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError


def _text(value: Any) -> Any:
    # `pulumi config set --path` types what looks like a number or a boolean; a tag or a label
    # is always text, and AWS and Kubernetes spell it `true`.
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


def _without_controls(value: str) -> str:
    if not value.replace("\n", "").replace("\t", "").isprintable():
        raise PydanticCustomError(
            "form", "is not {expected}", {"expected": "printable text", "example": "text"}
        )
    return value


def _one_line(value: str) -> str:
    if not value.isprintable():
        raise PydanticCustomError(
            "form",
            "is not {expected}",
            {"expected": "one line of printable text", "example": "text"},
        )
    return value


_Given = BeforeValidator(_text, json_schema_input_type=str | int | bool)
Text = Annotated[str, _Given, AfterValidator(_without_controls)]
"""Any text. Invisible characters other than white space are a mistake or an attack."""
Line = Annotated[str, _Given, AfterValidator(_one_line)]
"""One line of any text, for values that are written into one line of a file."""


TagKey = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_one_line)]
"""Key of a tag.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
"""
