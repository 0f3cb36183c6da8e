"""All objects in the account, by service."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.sandbox.inventory import (
    batch,
    containers,
    deployments,
    machines,
    monitoring,
    network,
    permissions,
    storage,
)
from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item


def account_items(clients: Clients) -> Iterator[Item]:
    """Yield all objects in the account."""
    of_compute = (machines, permissions, containers, batch)
    for module in (network, *of_compute, storage, deployments, monitoring):
        yield from module.items(clients)
