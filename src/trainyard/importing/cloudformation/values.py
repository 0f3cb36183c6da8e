"""Take over values that may not be known without an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.importing.cloudformation.deferred import Deferred, deferred_in
from trainyard.importing.draft import Draft
from trainyard.importing.placeholders import is_placeholder
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location

_PLACEHOLDER = "it is a placeholder: write the value"


def why_unknown(value: Any) -> str:
    """Return why a value is not known; empty if it is."""
    found = deferred_in(value)
    if found is not None:
        return found.why or f"it is known when {found} exists"
    return _PLACEHOLDER if is_placeholder(value) else ""


def is_known(source: Reader) -> bool:
    """Return whether there is a value, and all of it is known."""
    return source.exists and not why_unknown(source.value)


def take_known(draft: Draft, key: str, source: Reader) -> bool:
    """Set a key to a value if it is known, and return whether it is; otherwise say why not."""
    if is_known(source):
        return draft.take(key, source)
    claim_unknown(source, (*draft.at, key))
    return False


def claim_unknown(source: Reader, ours: Location) -> None:
    """Record why a value is not known, and the key that needs it."""
    if source.exists:
        why = why_unknown(source.value) or _PLACEHOLDER
        source.claim("not supported", why, ours=ours)


def take_ids(draft: Draft, key: str, sources: Sequence[Reader], prefix: str) -> None:
    """Add ids of EC2 to a list, and say what to do about those that are not known."""
    for source in sources:
        if isinstance(source.value, Deferred):
            claim_unknown(source, (*draft.at, key))
    draft.take_ids(key, sources, prefix)


def whole(source: Reader) -> int | None:
    """Return a value as a whole number, also from a text; None if it is not one."""
    try:
        return None if isinstance(source.value, bool) else int(str(source.value))
    except ValueError:
        return None
