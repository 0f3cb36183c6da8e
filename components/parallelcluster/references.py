"""Places of a rendered document whose values exist only when the stack has made something.

The renderer is pure, so it writes a `Reference` where the id of a subnet, a key pair or a
resource group belongs; `resolve` puts the ids there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ReferenceKind = Literal["subnet", "key-pair", "reservation-group", "open-zfs-volume"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that something else gives."""

    kind: ReferenceKind
    name: str
    """Reference of the `NetworkPlan` for a subnet; else a key of the stack file."""


def resolve(document: Any, value_of: Callable[[Reference], Any]) -> Any:
    """Return a document of mappings, lists and plain values with every reference replaced."""
    if isinstance(document, Reference):
        return value_of(document)
    if isinstance(document, Mapping):
        return {key: resolve(value, value_of) for key, value in document.items()}
    if isinstance(document, Sequence) and not isinstance(document, str):
        return [resolve(item, value_of) for item in document]
    return document


def references(document: Any) -> tuple[Reference, ...]:
    """Return every reference of a document, in its order, each once."""
    found: list[Reference] = []

    def note(reference: Reference) -> None:
        found.append(reference)

    resolve(document, note)
    return tuple(dict.fromkeys(found))
