"""How the object of every resource type is found after a kill.

A contract test compares it with the types that the stacks register, and the table of
`docs/recovery.md` is generated from it.
"""

from __future__ import annotations

from collections.abc import Callable

from trainyard.workspace.recovery import clusters, finders, network
from trainyard.workspace.recovery.lookups import Lookup, repeated

IN_STATE = repeated("exists only in the state")
"""Providers and components."""

LOOKUPS: dict[str, Lookup] = {
    **network.LOOKUPS,
    **finders.COMPUTE_LOOKUPS,
    **finders.IDENTITY_LOOKUPS,
    **finders.EKS_LOOKUPS,
    **finders.BATCH_LOOKUPS,
    **finders.STORAGE_LOOKUPS,
    **finders.MONITORING_LOOKUPS,
    **finders.SERVICES_LOOKUPS,
    **clusters.LOOKUPS,
}
"""By type token; a token that ends with a colon matches every type of the package."""
LookupOf = Callable[..., Lookup | None]
"""`lookup_of` or a replacement."""
_COMPONENTS = ("pulumi:", "trainyard:", "eks:index:")


def lookup_of(type_token: str, *, custom: bool = True) -> Lookup | None:
    """Return how objects of a type are found; None for an unknown type."""
    if not custom or type_token.startswith(_COMPONENTS):
        return IN_STATE
    package = f"{type_token.partition(':')[0]}:"
    return LOOKUPS.get(type_token) or LOOKUPS.get(package)
