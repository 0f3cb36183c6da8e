"""All objects in a sandbox, one per line, so that two points in time can be compared.

No line contains a time, a transient state, or an unstable order. Terminated instances are omitted,
although EC2 describes them for an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from trainyard.sandbox.inventory.account import account_items
from trainyard.sandbox.inventory.clients import Clients, clients_of
from trainyard.sandbox.inventory.item import Item
from trainyard.sandbox.kubernetes.commands import Layout
from trainyard.sandbox.kubernetes.inventory import lines as cluster_lines
from trainyard.sandbox.state import SandboxDirectory, SandboxError

__all__ = ["Item", "items", "lines"]


def lines(directory: SandboxDirectory) -> list[str]:
    """Return a line for every object in the account and in each cluster, sorted.

    Raises:
        SandboxError: No sandbox is running in the directory.
    """
    return sorted(item.line for item in items(directory))


def items(directory: SandboxDirectory) -> list[Item]:
    """Return every object in the account and in each cluster.

    Raises:
        SandboxError: No sandbox is running in the directory.
    """
    status = directory.read_status()
    if status is None:
        raise SandboxError(f"no sandbox runs in {directory.path}, so there is nothing to list")
    clients = clients_of(status.endpoint, status.region)
    found = list(account_items(clients))
    for name, kubeconfig in _kubeconfigs(directory, clients).items():
        found.extend(_cluster_items(name, kubeconfig))
    return found


def _kubeconfigs(directory: SandboxDirectory, clients: Clients) -> Mapping[str, Path]:
    """Return the administrator's kubeconfig of every cluster that has a control plane."""
    eks = clients.client("eks")
    names = [
        name
        for name in eks.list_clusters()["clusters"]
        if eks.describe_cluster(name=name)["cluster"]["status"] == "ACTIVE"
    ]
    paths = {name: Layout(directory.clusters / name).kubeconfig for name in names}
    return {name: path for name, path in paths.items() if path.exists()}


def _cluster_items(cluster: str, kubeconfig: Path) -> Iterator[Item]:
    for line in cluster_lines(kubeconfig):
        kind, _, name = line.partition(" ")
        yield Item(f"kubernetes:{kind}", name, {"cluster": cluster})
