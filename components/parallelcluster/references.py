"""Placeholders in a rendered document for values of resources that do not exist yet.

The renderer is pure and writes a `Reference` in place of the id of a subnet, a key pair, a
reservation or a resource group; `resolve` inserts the ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ReferenceKind = Literal[
    "subnet",
    "key-pair",
    "reservation",
    "reservation-group",
    "open-zfs-volume",
    "node-script",
    "script-bucket",
]


@dataclass(frozen=True, slots=True)
class Reference:
    """A placeholder for a value."""

    kind: ReferenceKind
    name: str
    """Reference of the `NetworkPlan` for a subnet, key of the object for a script, what nodes may
    read for the bucket; otherwise a key of the stack file."""

    def can_be(self, value: Any) -> bool:
        """Return whether a deployed value can be what this stands for.

        Only the address of a script contains its name: its key.
        """
        if self.kind == "node-script":
            return str(value).startswith("s3://") and str(value).endswith(f"/{self.name}")
        return value is not None


def resolve(document: Any, value_of: Callable[[Reference], Any]) -> Any:
    """Return a document with every reference replaced."""
    if isinstance(document, Reference):
        return value_of(document)
    if isinstance(document, Mapping):
        return {key: resolve(value, value_of) for key, value in document.items()}
    if isinstance(document, Sequence) and not isinstance(document, str):
        return [resolve(item, value_of) for item in document]
    return document


def references(document: Any) -> tuple[Reference, ...]:
    """Return the references of a document, in order and without duplicates."""
    found: list[Reference] = []

    def note(reference: Reference) -> None:
        found.append(reference)

    resolve(document, note)
    return tuple(dict.fromkeys(found))
