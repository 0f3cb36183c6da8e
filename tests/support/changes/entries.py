"""Entries that a change adds, by the mapping to which it adds them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

Entry = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

LUSTRE = {
    "kind": "fsx-lustre",
    "per_unit_storage_throughput": 125,
    "availability_zone": "us-west-2b",
}


def _like_the_first(*place: str) -> Callable[[Mapping[str, Any]], Mapping[str, Any] | None]:
    def second(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        entries: Any = raw
        for key in place:
            entries = entries.get(key) or {}
        return copy.deepcopy(next(iter(entries.values()))) if entries else None

    return second


def _on_demand(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    zone = (raw["network"].get("availability_zones") or ["us-west-2b"])[0]
    return {
        "instance_type": "g4dn.8xlarge",
        "availability_zone": zone,
        "desired": 1,
        "maximum": 2,
        "efa_enabled": True,
    }


def _lustre(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    kind = raw["architecture"]["kind"]
    if kind == "parallelcluster":
        zone = {"availability_zone": None}
        return {k: v for k, v in (LUSTRE | zone).items() if v} | {"mount_directory": "/lustre"}
    network = raw["network"]
    zones = network.get("availability_zones")
    return LUSTRE | ({"availability_zone": zones[0]} if zones else {})


ENTRIES: Mapping[str, Mapping[str, Entry]] = {
    "architecture.node_groups": {
        "added": _on_demand,
        "added-beside": _like_the_first("architecture", "node_groups"),
    },
    "architecture.queues": {"added": _like_the_first("architecture", "queues")},
    "architecture.compute_environments": {
        "added": _like_the_first("architecture", "compute_environments")
    },
    "architecture.job_definitions": {
        "added": _like_the_first("architecture", "job_definitions"),
    },
    "reservations": {
        "added": {"kind": "odcr", "reservation_id": "cr-00d00000000000002"},
    },
    "storage": {"added": _lustre},
}
"""The entry itself, or a function that creates it from the file."""
