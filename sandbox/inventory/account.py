"""All objects in the account, by service."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.inventory import (
    batch,
    containers,
    deployments,
    machines,
    network,
    permissions,
    storage,
)
from sandbox.inventory.clients import Clients
from sandbox.inventory.item import Item


def account_items(clients: Clients) -> Iterator[Item]:
    """Yield all objects in the account."""
    for module in (network, machines, permissions, containers, batch, storage, deployments):
        yield from module.items(clients)
