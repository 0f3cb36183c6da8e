"""State of the extensions in addition to moto's, one per backend (account, region, service).

It is attached to moto's backend object, so that moto's reset clears it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

State = TypeVar("State")

_ATTRIBUTE = "_sandbox_state"


def state_of(backend: Any, kind: Callable[[], State]) -> State:
    """Return the object of class `kind` of this backend, created on first use."""
    states: dict[Any, Any] = backend.__dict__.setdefault(_ATTRIBUTE, {})
    if kind not in states:
        states[kind] = kind()
    return states[kind]
