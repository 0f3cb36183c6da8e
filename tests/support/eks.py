"""EKS for tests: stack files, plans by hand, and a registered stack.

The stack file is that of two p5.48xlarge in a Capacity Block, which tests change in one place.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from tests.support.cloud import Cloud, Registered
from tests.support.kubernetes import DEFAULT
from tests.support.pools import BLOCK, NO_PLACEMENT, ON_DEMAND
from tests.support.stack_files import (
    NOW,
    REGION,
    RESERVATION,
    STACK_FILE,
    by_path,
    plan_from,
    raw_config,
)
from trainyard.components.capacity.plan import PlacementPlan, SchedulePlan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.compute.interface_plan import (
    InterfacePlan,
    NetworkInterface,
    plan_interfaces,
)
from trainyard.components.compute.node_pool_plan import RootVolumePlan
from trainyard.components.config.eks import NodeGroup, Taint
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError, Problem, Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.eks.addons.registry import plan_self_managed_addons
from trainyard.components.eks.facts import ClusterFacts
from trainyard.components.eks.node_group_plan import NodeGroupPlan, plan_node_group
from trainyard.components.eks.plan import AddonVersions, EksPlan
from trainyard.components.network.network_plan import existing_network, plan_network
from trainyard.components.network.pool_place import PlanContext
from trainyard.components.storage.storage_plan import ClaimPlan, FsxLustrePlan

PUBLIC = ["subnet-000000000000000a1", "subnet-000000000000000b1"]
PRIVATE = ["subnet-000000000000000a2", "subnet-000000000000000b2"]
OTHER_RESERVATION = "cr-0fedcba9876543210"

P5_CB: Mapping[str, Any] = {
    "name": "p5-cb",
    "network": {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": PUBLIC,
        "private_subnet_ids": PRIVATE,
    },
    "reservations": {
        "block": {
            "kind": "capacity-block",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
        }
    },
    "architecture": {
        "kind": "eks",
        "kubernetes_version": DEFAULT,
        "node_groups": {
            "p5": {
                "management": "self-managed",
                "instance_type": "p5.48xlarge",
                "purchase_option": "block",
                "desired": 2,
                "maximum": 2,
                "efa_enabled": True,
            }
        },
    },
}


def cluster_facts(**changes: Any) -> ClusterFacts:
    """Return a running cluster of the stack, with changed facts."""
    facts: dict[str, Any] = {
        "name": "p5-cb",
        "status": "ACTIVE",
        "kubernetes_version": DEFAULT,
        "authentication_mode": "API_AND_CONFIG_MAP",
    }
    return ClusterFacts(**(facts | changes))


def changed(**changes: Any) -> dict[str, Any]:
    """Return the configuration with keys changed, as in `raw_config`."""
    return raw_config(P5_CB, **changes)


def p5(**changes: Any) -> dict[str, Any]:
    """Return the configuration with keys of its node group replaced."""
    return changed(**{f"architecture__node_groups__p5__{key}": v for key, v in changes.items()})


def block(**changes: Any) -> dict[str, Any]:
    """Return the configuration with keys of its reservation replaced."""
    return changed(**{f"reservations__block__{key}": v for key, v in changes.items()})


def with_odcr(reservation: Mapping[str, Any] | None = None, **group: Any) -> dict[str, Any]:
    """Return the configuration with an ODCR instead of the Capacity Block."""
    raw = p5(**group)
    raw["reservations"] = {
        "block": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            **(reservation or {}),
        }
    }
    return raw


def with_created_odcr(**reservation: Any) -> dict[str, Any]:
    """Return the configuration with an ODCR that the stack creates."""
    raw = with_odcr({"create": True, "instance_count": 2})
    del raw["reservations"]["block"]["reservation_id"]
    raw["reservations"]["block"].update(reservation)
    return raw


def config(raw: object) -> StackConfig:
    return load_stack_config(raw, stack_file=STACK_FILE)


def group(raw: object, name: str = "p5", *, now: datetime = NOW) -> NodeGroupPlan:
    return next(g for g in plan_from(raw, now=now).node_groups if g.name == name)


def group_before_review(raw: object, name: str = "p5") -> NodeGroupPlan:
    """Return the plan of a node group, even if `plan_stack` refuses it."""
    stack = config(raw)
    context = PlanContext(
        config=stack,
        region=REGION,
        network=plan_network(stack.network, region=REGION),
        now=NOW,
    )
    review = Review(stack_file=STACK_FILE)
    plan = plan_node_group(name, stack.architecture.node_groups[name], context, review)
    assert plan is not None
    return plan


def schema_problems(raw: object, stray_keys: tuple[str, ...] = ()) -> dict[str, Problem]:
    """Return the problems that `load_stack_config` reports, by path below `trainyard:cluster`."""
    try:
        load_stack_config(raw, stack_file=STACK_FILE, stray_keys=stray_keys)
    except ConfigError as error:
        return _by_own_path(error)
    return {}


def refusals(raw: object, **options: Any) -> dict[str, Problem]:
    """Return the problems of a stack file, as in `stack_files`; each has a path of its own."""
    try:
        plan_from(raw, **options)
    except ConfigError as error:
        return _by_own_path(error)
    return {}


def _by_own_path(error: ConfigError) -> dict[str, Problem]:
    paths = by_path(error)
    assert len(paths) == len(error.problems), "two problems have one path"
    return paths


NETWORK = existing_network(
    "vpc-0a1",
    public_subnet_ids=("subnet-public-a", "subnet-public-b"),
    private_subnet_ids=("subnet-private-a", "subnet-private-b"),
)
STARTS = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
SCALE_DOWN = datetime(2026, 12, 8, 10, 50, tzinfo=UTC)
AMI_PARAMETER = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/v1/image_id"


P5_INTERFACES = InterfacePlan(
    (
        NetworkInterface(0, 0, "interface"),
        NetworkInterface(0, 1, "efa-only"),
        *(NetworkInterface(card, 0, "efa-only") for card in range(1, 32)),
    )
)

SYSTEM = NodeGroupPlan(
    name="system",
    config=NodeGroup(instance_type="c5.2xlarge", minimum=1, desired=1, maximum=2),
    management="managed",
    instance_type=instance_type("c5.2xlarge"),
    capacity=ON_DEMAND,
    placement=PlacementPlan(group="none", reason="cluster services run in every zone"),
    schedule=SchedulePlan(state="unlimited", minimum=1, desired=1, maximum=2),
    interfaces=None,
    subnets=("subnet-private-a", "subnet-private-b"),
    root_volume=RootVolumePlan(size_gib=80),
    local_nvme="none",
    labels={},
    taints=(),
    maximum_pods=None,
    ami_type="AL2023_x86_64_STANDARD",
    ami_ssm_parameter=AMI_PARAMETER.replace("nvidia", "standard"),
    ami_release_version="1.35.6-20260714",
    iam_policies=(),
    metadata_hop_limit=2,
    addon_policies=("autoscaler", "cloudwatch"),
)
P5 = NodeGroupPlan(
    name="p5",
    config=NodeGroup(instance_type="p5.48xlarge", desired=2, maximum=2),
    management="self-managed",
    instance_type=instance_type("p5.48xlarge"),
    capacity=BLOCK,
    placement=NO_PLACEMENT,
    schedule=SchedulePlan(state="unlimited", minimum=0, desired=2, maximum=2),
    interfaces=P5_INTERFACES,
    subnets=("subnet-private-b",),
    root_volume=RootVolumePlan(size_gib=500),
    local_nvme="raid0",
    labels={"node.trainyard/workload": "training"},
    taints=(Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),),
    maximum_pods=50,
    ami_type="AL2023_x86_64_NVIDIA",
    ami_ssm_parameter=AMI_PARAMETER,
    ami_release_version="1.35.6-20260714",
    iam_policies=(),
    metadata_hop_limit=1,
)
SCHEDULED = SchedulePlan(
    state="scheduled",
    minimum=0,
    desired=0,
    maximum=2,
    scale_up_at=STARTS,
    scale_up_minimum=1,
    scale_up_desired=2,
    scale_down_at=SCALE_DOWN,
    wait_for_capacity=False,
    message="the Capacity Block starts at 2026-12-01 11:30 UTC",
)
ACTIVE = SchedulePlan(
    state="active", minimum=0, desired=2, maximum=2, scale_down_at=SCALE_DOWN, message="ends"
)
ENDING = SchedulePlan(
    state="ending", minimum=0, desired=0, maximum=2, wait_for_capacity=False, message="ends"
)
EXPIRED = SchedulePlan(
    state="expired", minimum=0, desired=0, maximum=2, wait_for_capacity=False, message="ended"
)
WITHOUT_HANDLER = config(changed(architecture__addons={"node_termination_handler": False}))


def eks_plan(*groups: NodeGroupPlan, **changes: Any) -> EksPlan:
    """Return the plan of a p5 cluster in a Capacity Block, with these node groups if any.

    By default, it installs the add-ons that the node groups need, and drains no node.
    """
    node_groups = (SYSTEM, *(groups or (P5,)))
    plan = EksPlan(
        name="p5-cb",
        tags={"team": "vision"},
        region="us-west-2",
        network=NETWORK,
        kubernetes_version="1.35",
        authentication_mode="API_AND_CONFIG_MAP",
        node_authorization="aws-auth",
        endpoint_public_access=True,
        endpoint_private_access=True,
        public_access_cidrs=("0.0.0.0/0",),
        log_types=(),
        addon_versions=AddonVersions(
            vpc_cni="v1.21.1-eksbuild.1",
            kube_proxy="v1.35.0-eksbuild.2",
            coredns="v1.13.1-eksbuild.1",
        ),
        self_managed_addons=plan_self_managed_addons(WITHOUT_HANDLER, node_groups),
        node_groups=node_groups,
        device_plugin_tolerations=P5.taints,
        notes=(),
    )
    return replace(plan, **changes)


SHARED_LUSTRE = FsxLustrePlan(
    name="data",
    claim=ClaimPlan(name="data", namespace="default", volume_name="default-data", mount_options=()),
    capacity_gib=1200,
)


def nodes_of(
    type_name: str, *, efa: bool = True, desired: int = 2, **changes: Any
) -> NodeGroupPlan:
    """Return a node group of a type, named after its family, that may scale up by one node."""
    found = instance_type(type_name)
    return replace(
        P5,
        **{
            "name": found.family,
            "instance_type": found,
            "capacity": ON_DEMAND,
            "placement": NO_PLACEMENT,
            "schedule": SchedulePlan(
                state="unlimited", minimum=0, desired=desired, maximum=desired + 1
            ),
            "interfaces": plan_interfaces(found) if efa and found.efa_supported else None,
            "labels": {},
            "taints": (),
            **changes,
        },
    )


CLUSTER_SECURITY_GROUP = "sg-0c1u5te2000000000"
"""The test engine's answer for the security group that EKS creates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltStack:
    """One stack."""

    config: dict[str, Any]
    """`config` of the stack file, completed with the ids of the account."""
    plan: EksPlan
    cloud: Cloud

    @property
    def system(self) -> NodeGroupPlan:
        """The node group for cluster services."""
        return self.plan.node_groups[0]

    @property
    def group(self) -> NodeGroupPlan:
        """The node group for training jobs."""
        (group,) = self.plan.node_groups[1:]
        return group

    @property
    def cluster(self) -> dict[str, Any]:
        """Inputs of the control plane."""
        (made,) = self.cloud.of_type("eks:index:Cluster")
        return made.inputs

    def managed(self, group: NodeGroupPlan) -> dict[str, Any]:
        """Return the inputs of a managed node group."""
        return self.of_group(group, "aws:eks/nodeGroup:NodeGroup", "-node-group")

    def template(self, group: NodeGroupPlan) -> dict[str, Any]:
        """Return the inputs of the launch template of a node group."""
        return self.of_group(group, "aws:ec2/launchTemplate:LaunchTemplate", "-launch-template")

    def of_group(self, group: NodeGroupPlan, type_: str, suffix: str) -> dict[str, Any]:
        """Return the inputs of a resource that belongs to one node group."""
        return self.cloud.one(f"{self.plan.name}-{group.name}{suffix}", type_).inputs

    def user_data(self, group: NodeGroupPlan) -> str:
        """Return the user data of a node of the group."""
        return base64.b64decode(self.template(group)["userData"]).decode()

    def role_policies(self, group: NodeGroupPlan) -> tuple[set[str], set[str]]:
        """Return the names of the managed and the inline policies of the nodes' role."""
        role = f"{self.plan.name}-{group.name}-role"

        def of(type_: str) -> list[Registered]:
            made = self.cloud.of_type(f"aws:iam/{type_}")
            return [policy for policy in made if policy.inputs["role"] == role]

        attached = of("rolePolicyAttachment:RolePolicyAttachment")
        inline = of("rolePolicy:RolePolicy")
        prefix = f"{self.plan.name}-{group.name}-"
        return (
            {policy.inputs["policyArn"].rpartition("/")[2] for policy in attached},
            {policy.name.removeprefix(prefix) for policy in inline},
        )

    def zone_of(self, group: NodeGroupPlan) -> str | None:
        """Return the zone of the only subnet of a node group, in the order of the account."""
        (reference,) = group.subnets
        return self.plan.network.subnet(reference).availability_zone or _zone_of_fixture(reference)


def _zone_of_fixture(subnet_id: str) -> str:
    # The first letter of a subnet id of the sandbox's account is its zone.
    return f"us-west-2{subnet_id[len('subnet-0')]}"
