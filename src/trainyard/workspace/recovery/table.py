"""How the object of every resource type is found after a kill.

A contract test compares it with the types that the stacks register, and the table of
`docs/recovery.md` is generated from it.
"""

from __future__ import annotations

from collections.abc import Callable

from trainyard.workspace.recovery import clusters, finders, network
from trainyard.workspace.recovery.ways import Way, repeated

IN_STATE = repeated("exists only in the state")
"""Providers and components."""

WAYS: dict[str, Way] = {
    **network.WAYS,
    **finders.COMPUTE_WAYS,
    **finders.IDENTITY_WAYS,
    **finders.EKS_WAYS,
    **finders.BATCH_WAYS,
    **finders.STORAGE_WAYS,
    **finders.MONITORING_WAYS,
    **finders.SERVICES_WAYS,
    **clusters.WAYS,
}
"""By type token; a token that ends with a colon matches every type of the package."""
WayOf = Callable[..., Way | None]
"""`way_of` or a replacement."""
_COMPONENTS = ("pulumi:", "trainyard:", "eks:index:")


def way_of(type_token: str, *, custom: bool = True) -> Way | None:
    """Return how objects of a type are found; None for an unknown type."""
    if not custom or type_token.startswith(_COMPONENTS):
        return IN_STATE
    package = f"{type_token.partition(':')[0]}:"
    return WAYS.get(type_token) or WAYS.get(package)
