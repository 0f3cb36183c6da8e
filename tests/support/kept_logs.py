"""The log groups that ParallelCluster keeps when a cluster is deleted."""

from __future__ import annotations

from collections.abc import Iterable

PREFIXES = ("/aws/lambda/pcluster-", "/aws/parallelcluster/")


def without_kept_logs(inventory: Iterable[str]) -> list[str]:
    """Return the lines of an inventory without these log groups: they stay for their retention."""
    kept = tuple(f"logs:log-group {prefix}" for prefix in PREFIXES)
    return [line for line in inventory if not line.startswith(kept)]
