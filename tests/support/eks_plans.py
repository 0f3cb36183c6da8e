"""EKS plans for tests of the components: one complete plan, which tests change in one place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from components.capacity.plan import CapacityPlan, PlacementPlan, SchedulePlan
from components.catalog.instance_types import instance_type
from components.compute.interface_plan import InterfacePlan, NetworkInterface
from components.compute.root_volume import RootVolume
from components.config.eks import NodeGroup, Taint
from components.eks.addons.registry import plan_self_managed_addons
from components.eks.node_group_plan import NodeGroupPlan
from components.eks.plan import AddonVersions, EksPlan
from components.network.network_plan import existing_network
from tests.support.stack_files import changed, config

NETWORK = existing_network(
    "vpc-0a1",
    public_subnet_ids=("subnet-public-a", "subnet-public-b"),
    private_subnet_ids=("subnet-private-a", "subnet-private-b"),
)
STARTS = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
SCALE_DOWN = datetime(2026, 12, 8, 10, 50, tzinfo=UTC)
AMI_PARAMETER = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/v1/image_id"

BLOCK = CapacityPlan(
    purchase_option="block",
    kind="capacity-block",
    market_type="capacity-block",
    reservation_id="cr-0123456789abcdef0",
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
    eks_capacity_type="CAPACITY_BLOCK",
)
ON_DEMAND = CapacityPlan(purchase_option="on-demand", kind="on-demand")
SPOT = CapacityPlan(
    purchase_option="spot", kind="spot", market_type="spot", eks_capacity_type="SPOT"
)
NO_PLACEMENT = PlacementPlan(group="none", reason="the reservation places its instances")

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
    root_volume=RootVolume(size_gib=80),
    local_nvme="none",
    labels={},
    taints=(),
    maximum_pods=None,
    ami_type="AL2023_x86_64_STANDARD",
    ami_ssm_parameter=AMI_PARAMETER.replace("nvidia", "standard"),
    ami_release_version="1.35.6-20260714",
    iam_policies=(),
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
    root_volume=RootVolume(size_gib=500),
    local_nvme="raid0",
    labels={"node.trainyard/workload": "training"},
    taints=(Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule"),),
    maximum_pods=50,
    ami_type="AL2023_x86_64_NVIDIA",
    ami_ssm_parameter=AMI_PARAMETER,
    ami_release_version="1.35.6-20260714",
    iam_policies=(),
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
