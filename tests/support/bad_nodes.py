"""Clusters for tests of repairs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.repair.decision import Cluster, Group, Health, Node

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
BLOCK = "cr-0123456789abcdef0"
BAD = Health(bad_because="AcceleratedHardwareReady is False for 14 min")


def node(number: int, *, bad: bool = False, **changes: Any) -> Node:
    """Return a Ready node."""
    values = {
        "name": f"n{number}",
        "uid": f"uid-{number}",
        "instance_id": f"i-{number}",
        "is_ready": True,
        "health": BAD if bad else Health(),
    }
    return Node(**{**values, **changes})


def group(*nodes: Node, **changes: Any) -> Group:
    """Return a group of these nodes in a full Capacity Block."""
    ids = [each.instance_id for each in nodes]
    values = {
        "name": "p5",
        "scaling_group": "p5-nodes",
        "desired": len(nodes),
        "instances": dict.fromkeys(ids, "InService"),
        "at_once": 1,
        "is_reserved": True,
        "targets": (BLOCK,),
        "reservation_of": dict.fromkeys(ids, BLOCK),
    }
    return Group(**{**values, **changes})


def block(**changes: Any) -> ReservationUse:
    """Return a full Capacity Block that ends in two days."""
    values = {
        "reservation_id": BLOCK,
        "state": "active",
        "instance_type": "p5.48xlarge",
        "total": 2,
        "available": 0,
        "ends_at": NOW + timedelta(days=2),
    }
    return ReservationUse(**{**values, **changes})


def cluster(*nodes: Node, use: ReservationUse | None = None, **changes: Any) -> Cluster:
    """Return a cluster with one group."""
    found = use or block()
    return Cluster(
        nodes=nodes, groups=(group(*nodes, **changes),), reservations={found.reservation_id: found}
    )
