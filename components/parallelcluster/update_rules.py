"""What ParallelCluster allows to change in a cluster that exists, setting by setting.

The table is read from ParallelCluster's own schema by `tools/parallelcluster/update_policies.py`.
What each policy means:
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
    """When a setting may change; the names are ParallelCluster's.

    Source:
        https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/update_policy.py
    """

    IGNORED = "IGNORED"
    """Always; of a section, what its settings say."""
    SUPPORTED = "SUPPORTED"
    SUPPORTED_UNLESS_ADC = "SUPPORTED_UNLESS_ADC"
    """Always, but in the isolated partitions of US agencies."""
    QUEUE_UPDATE_STRATEGY = "QUEUE_UPDATE_STRATEGY"
    """In a queue with DRAIN or TERMINATE, elsewhere while the compute fleet is stopped."""
    RESIZE_UPDATE_STRATEGY_ON_REMOVE = "RESIZE_UPDATE_STRATEGY_ON_REMOVE"
    """More nodes always; fewer with TERMINATE or while the compute fleet is stopped."""
    MANAGED_PLACEMENT_GROUP = "MANAGED_PLACEMENT_GROUP"
    """As in a queue; giving up a group that ParallelCluster made needs the fleet stopped."""
    MANAGED_FSX = "MANAGED_FSX"
    """Never beside a Lustre file system that ParallelCluster made; else as in a queue."""
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
    """What the table says of one setting."""

    policy: Policy = Policy.UNSUPPORTED
    """As ParallelCluster takes a setting that its table lacks."""
    item_name: str | None = None
    """Setting that tells the items of a list apart; None for everything but a list of sections."""
    settings: dict[str, Rule] = field(default_factory=dict[str, "Rule"])
    """Rules of a section's settings; empty for a plain setting."""


@cache
def rules() -> Rule:
    """Return the rules of a whole cluster configuration."""
    return rules_of(_TABLE.read_text(encoding="utf-8").splitlines())


def rules_of(lines: Iterable[str]) -> Rule:
    """Return the rules that lines such as `Image.Os UNSUPPORTED` spell."""
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
