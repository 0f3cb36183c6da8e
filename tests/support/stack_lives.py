"""The lives of stacks in the sandbox: differences from the stack file, and later changes.

A stack has a whole life if no other one has all of its types of resources. The others come up and
go: what is different in them, such as nodes and images, is there when they are up. Snapshots of
plans and the change matrix cover their changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.monitoring import PROMETHEUS
from tests.support.stacks import STACKS, stack_config
from tests.support.verifications_of_a_life import MINIMUM_GB_PER_SECOND

TAGGED = {"tags": {"Team": "research"}}
UNPROTECTED = {
    "storage.fsx.deletion_protection": False,
    "storage.apps.deletion_protection": False,
}
"""Removes the protection: a protected object would outlive the stack and stay in the account."""
DATA = {
    "kind": "fsx-lustre",
    "per_unit_storage_throughput": 125,
    "storage_capacity_gib": 2400,
    "data_repositories": [{"file_system_path": "/a", "s3_path": "s3://trainyard-sandbox-data/a/"}],
    "deletion_protection": False,
}
MONITORING = {
    "node_metrics": "cloudwatch",
    "alarms": {"emails": ["ml-infra@example.com"], "idle_minutes": 30},
}
WATCHING = ("cloudwatch:alarm", "cloudwatch:dashboard", "sns:topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Nodes of a stack for training jobs."""

    instance_type: str
    nodes: int
    zone: str
    devices: Mapping[str, str]
    """Allocatable resources of each node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLife:
    """A stack file, changed so that it leaves nothing behind, and one more change of it.

    Values by path below `trainyard:cluster`, as for `copied_stack_file`.
    """

    stack: str
    base: dict[str, Any] = field(default_factory=dict[str, Any])
    """Initial differences from the stack file."""
    change: dict[str, Any] = field(default_factory=dict[str, Any])
    """A change of sizes, and of tags if the stack can change them in place. A life without a change
    is short: up and destroyed."""
    has_preview: bool = False
    """Whether the first `up` has a preview, in which the policy pack sees unknown values."""
    replaced: int = 0
    """How many resources the change replaces."""
    workers: Workers | None = None
    """Expected nodes for training jobs, if a test checks them."""
    kinds: frozenset[str] = frozenset()
    """Kinds of objects that the account must have because of the stack; others may exist."""

    @property
    def is_whole(self) -> bool:
        """Whether the stack comes up again, is changed and refreshed."""
        return bool(self.change)

    @property
    def requires_verification(self) -> bool:
        """Whether nodes take no jobs until they pass `verify`."""
        return self.base.get("verification.required", False)


def _unprotected(stack: str) -> dict[str, Any]:
    """Return the changes that make `destroy` delete the new file systems of a stack."""
    storage = stack_config(stack)["trainyard:cluster"].get("storage", {})
    new = [name for name, entry in storage.items() if not entry["kind"].startswith("existing-")]
    return {f"storage.{name}.deletion_protection": False for name in new}


_GROUPS = "architecture.node_groups"
_COMPUTING = "architecture.compute_environments"

_LIVES = (
    StackLife(stack="dev"),
    StackLife(
        stack="eks-g4dn",
        has_preview=True,
        change=TAGGED | {f"{_GROUPS}.g4dn.desired": 1, f"{_GROUPS}.g4dn.root_volume.size_gib": 600},
        workers=Workers(
            instance_type="g4dn.8xlarge",
            nodes=2,
            zone="us-west-2b",
            devices={"nvidia.com/gpu": "1", "vpc.amazonaws.com/efa": "1"},
        ),
        kinds=frozenset({"ec2:vpc", "ec2:nat-gateway", "ec2:vpc-endpoint", "ec2:placement-group"}),
    ),
    StackLife(
        stack="eks-g4dn-vpc",
        has_preview=True,
        base={
            "storage.data": DATA,
            "monitoring": MONITORING,
            "verification.required": True,
            "verification.minimum_bus_bandwidth_gb_per_second": {
                "g4dn.8xlarge": MINIMUM_GB_PER_SECOND
            },
            f"{_GROUPS}.g4dn.desired": 3,
        },
        change=TAGGED | {f"{_GROUPS}.g4dn.desired": 1, "storage.data.storage_capacity_gib": 4800},
        kinds=frozenset({"fsx:file-system", "fsx:data-repository-association", *WATCHING}),
    ),
    StackLife(stack="eks-p4de-odcr"),
    StackLife(
        stack="eks-p4de-odcr-vpc",
        workers=Workers(
            instance_type="p4de.24xlarge",
            nodes=2,
            zone="us-west-2b",
            devices={"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"},
        ),
        kinds=frozenset({"eks:node-group", "ec2:launch-template", "ec2:instance"}),
    ),
    StackLife(
        stack="eks-p5-odcr",
        base={"monitoring": {**PROMETHEUS, "alarms": {}}},
        change=TAGGED
        | {f"{_GROUPS}.p5-odcr.desired": 2, "architecture.system_node_group.maximum": 3},
        kinds=frozenset({"aps:scraper", "aps:rules", *WATCHING}),
    ),
    StackLife(stack="eks-trn1", has_preview=True, change=TAGGED | {f"{_GROUPS}.trn1.desired": 1}),
    # EKS updates a managed node group in a Capacity Block only to and from 0 nodes.
    StackLife(stack="p5-cb-managed", change={f"{_GROUPS}.p5.desired": 0}),
    StackLife(stack="pc-p4de-ami", base=UNPROTECTED),
    StackLife(stack="pc-p4de-g5", base=UNPROTECTED),
    StackLife(stack="pc-p4de-postinstall", base=UNPROTECTED),
    StackLife(stack="pc-trn1-ami", base=UNPROTECTED),
    StackLife(
        stack="pc-trn1-ultracluster",
        base={"monitoring": MONITORING},
        change=TAGGED
        | {
            "architecture.queues.compute1.compute_resources.queue1-i1.maximum": 8,
            "architecture.slurm.queue_update_strategy": "TERMINATE",
        },
        kinds=frozenset({"ssm:association", *WATCHING}),
    ),
    StackLife(stack="batch-dev"),
    StackLife(
        stack="batch-p4d",
        has_preview=True,
        base={"architecture.repository.deletion_protection": False},
        change=TAGGED
        | {
            f"{_COMPUTING}.p4d.root_volume.size_gib": 600,
            "architecture.repository.kept_images": 50,
        },
        replaced=1,  # the life-cycle policy of the repository
    ),
    StackLife(
        stack="vpc-one-az",
        has_preview=True,
        base={"architecture.deletion_protection": False},
        change=TAGGED | {"network.nat_gateways": "none"},
    ),
)

LIVED_ELSEWHERE = frozenset(
    {"batch-p5", "batch-trn1", "p5-cb", "pc-dev", "pc-gpu", "pc-trn1", "vpc-multi-az"}
)
"""Stacks whose lives have their own, longer tests: `test_life_of_a_*.py`, `test_new_vpc.py`,
`test_acceptance.py` for `pc-dev`, and `test_capacity_block_clock.py` for `batch-p5`."""

STACK_LIVES = (
    *_LIVES,
    *(
        StackLife(stack=stack, base=_unprotected(stack), change=TAGGED)
        for stack in STACKS
        if stack not in LIVED_ELSEWHERE and stack not in {life.stack for life in _LIVES}
    ),
)
"""The lives of all other stacks; by default, a life changes the tags."""
