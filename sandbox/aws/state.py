"""State that the extensions keep beside moto's own, one a backend (account, region, service).

It hangs on moto's backend object, so that moto's reset clears it with everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

State = TypeVar("State")

_ATTRIBUTE = "_sandbox_state"


def state_of(backend: Any, kind: Callable[[], State]) -> State:
    """Return the one object of class `kind` that belongs to this backend, made on first use."""
    states: dict[Any, Any] = backend.__dict__.setdefault(_ATTRIBUTE, {})
    if kind not in states:
        states[kind] = kind()
    return states[kind]
