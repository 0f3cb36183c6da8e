"""ParallelCluster update policies of each setting.

The table is generated from the schema of ParallelCluster by
`tools/parallelcluster/update_policies.py`. Meaning of the policies:
https://docs.aws.amazon.com/parallelcluster/latest/ug/using-pcluster-update-cluster-v3.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parents[1] / "catalog" / "data"
_TABLE = _DATA / "parallelcluster_update_policies.txt"
_ITEMS = re.compile(r"(?P<key>[^\[]+)\[(?P<name>[^\]]+)\]")


class Policy(StrEnum):
    """When a setting can change, with the policy names of ParallelCluster.

    Source:
        https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/update_policy.py
    """

    IGNORED = "IGNORED"
    """Always; for a section, its settings decide."""
    SUPPORTED = "SUPPORTED"
    SUPPORTED_UNLESS_ADC = "SUPPORTED_UNLESS_ADC"
    """Always, except in the US isolated partitions."""
    QUEUE_UPDATE_STRATEGY = "QUEUE_UPDATE_STRATEGY"
    """In a queue with DRAIN or TERMINATE, otherwise while the compute fleet is stopped."""
    RESIZE_UPDATE_STRATEGY_ON_REMOVE = "RESIZE_UPDATE_STRATEGY_ON_REMOVE"
    """More nodes always; fewer with TERMINATE or while the compute fleet is stopped."""
    MANAGED_PLACEMENT_GROUP = "MANAGED_PLACEMENT_GROUP"
    """As QUEUE_UPDATE_STRATEGY; removing a managed group requires a stopped fleet."""
    MANAGED_FSX = "MANAGED_FSX"
    """Never with a managed Lustre file system; otherwise as QUEUE_UPDATE_STRATEGY."""
    SHARED_STORAGE_UPDATE_POLICY = "SHARED_STORAGE_UPDATE_POLICY"
    """With DRAIN or TERMINATE, while the fleet is stopped, or for existing EFS and FSx."""
    COMPUTE_FLEET_STOP = "COMPUTE_FLEET_STOP"
    COMPUTE_FLEET_STOP_ON_REMOVE = "COMPUTE_FLEET_STOP_ON_REMOVE"
    COMPUTE_AND_LOGIN_NODES_STOP = "COMPUTE_AND_LOGIN_NODES_STOP"
    READ_ONLY_RESOURCE_BUCKET = "READ_ONLY_RESOURCE_BUCKET"
    UNSUPPORTED = "UNSUPPORTED"
    """Never in this cluster."""


@dataclass(slots=True)
class Rule:
    """The update policy of one setting."""

    policy: Policy = Policy.UNSUPPORTED
    """ParallelCluster's policy for settings without an entry."""
    item_name: str | None = None
    """Setting that identifies the items of a list of sections; None otherwise."""
    settings: dict[str, Rule] = field(default_factory=dict[str, "Rule"])
    """Rules of a section's settings; empty for a plain setting."""


@cache
def rules() -> Rule:
    """Return the rules of the cluster configuration."""
    return rules_of(_TABLE.read_text(encoding="utf-8").splitlines())


def rules_of(lines: Iterable[str]) -> Rule:
    """Parse rules from lines such as `Image.Os UNSUPPORTED`."""
    root = Rule()
    for line in lines:
        path, policy = line.split()
        rule = root
        for part in path.split("."):
            items = _ITEMS.fullmatch(part)
            rule = rule.settings.setdefault(items["key"] if items else part, Rule())
            rule.item_name = items["name"] if items else None
        rule.policy = Policy(policy)
    return root
