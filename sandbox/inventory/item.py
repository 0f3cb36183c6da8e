"""A line of an inventory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Item:
    """An object."""

    kind: str
    """Service and kind: `ec2:subnet`."""
    identifier: str
    """Id or name, unique within its kind."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Distinguishing details; None, empty strings and empty lists are omitted."""

    @property
    def line(self) -> str:
        """`ec2:subnet subnet-0a… zone=us-west-2a cidr=10.0.0.0/20`."""
        shown = [f"{key}={_text(value)}" for key, value in self.details.items() if _is_given(value)]
        return " ".join([self.kind, self.identifier, *shown])


def tags(described: Iterable[Mapping[str, str]] | None) -> list[str]:
    """Return `key:value` of each tag, sorted, without the tags that AWS sets."""
    return sorted(
        f"{tag['Key']}:{tag['Value']}"
        for tag in described or []
        if not tag["Key"].startswith("aws:")
    )


def _is_given(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(each) for each in value)
    return str(value)
