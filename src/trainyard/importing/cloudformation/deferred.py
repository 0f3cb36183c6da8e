"""Values that a template does not have itself: AWS or a person knows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

_REFERENCE = re.compile(r"\$\{(?P<name>[\w:-]+)(?:\.[\w.]+)?\}")
"""The logical ids of a template have letters and digits, those of a live account also the
characters of the names of AWS Batch, and a colon."""


class Deferred(str):
    """A text with names in the places of values that are not known: `${Subnet}-a`.

    It has the form of a placeholder, so conversions treat it as one.
    """

    why: str
    """Why the value is not known, and what to do; empty for an object of the template."""

    def __new__(cls, text: str, why: str = "") -> Self:
        """Return a text with the reason why it is not known."""
        made = super().__new__(cls, text)
        made.why = why
        return made

    @property
    def names(self) -> Sequence[str]:
        """The objects of the template that the text names."""
        return [match["name"] for match in _REFERENCE.finditer(self)]

    @property
    def name(self) -> str:
        """The object of the template that is the value; empty if the value is not just that."""
        match = _REFERENCE.fullmatch(self)
        return match["name"] if match else ""


def deferred_in(value: Any) -> Deferred | None:
    """Return the first value in a plain value that is not known."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for each in value if (found := deferred_in(each)) is not None), None)
    return value if isinstance(value, Deferred) else None
