"""Placeholders of examples and templates for values of the user."""

from __future__ import annotations

import re
from typing import Any

_PLACEHOLDER = re.compile(
    r".*\$\{?\w+.*|.*<[^>]*>.*|.*\{\{.*|.*\bPLACEHOLDER.*|.*\bYOUR[-_ ].*|.*\bREPLACE.*|.*X{3,}.*",
    re.IGNORECASE | re.DOTALL,
)
_ID = re.compile(r"[0-9a-f]{8}(?:[0-9a-f]{9})?")


def is_placeholder(value: Any) -> bool:
    """Return whether a value is no value of AWS: `${SUBNET_ID}`, `<your-key>`, `subnet-xxx`."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def is_id(value: Any, prefix: str) -> bool:
    """Return whether a value is an id of EC2 with this prefix, such as `subnet`."""
    text = str(value)
    return text.startswith(f"{prefix}-") and bool(_ID.fullmatch(text.removeprefix(f"{prefix}-")))


def id_for(prefix: str, number: int = 0) -> str:
    """Return a placeholder for an unknown id, so that the rest can be checked."""
    return f"{prefix}-{number:017x}"
