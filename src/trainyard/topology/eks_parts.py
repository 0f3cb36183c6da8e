"""What an EKS cluster adds to the picture of its network."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.config.stack import PlacedStackConfig
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.topology.box import Box, Occupant, Parts
from trainyard.topology.node_boxes import nodes_box, placed

_COMPONENTS = {
    "managed": "trainyard:eks:ManagedNodeGroup",
    "self-managed": "trainyard:eks:SelfManagedNodeGroup",
}


def eks_parts(config: PlacedStackConfig, plan: EksPlan) -> Parts:
    """Return the control plane, the add-ons, the node groups and the file systems."""
    groups = [(group, _group(group, plan)) for group in plan.node_groups]
    return Parts(
        services=tuple(_services(plan)),
        occupants=(*placed(groups, config.reservations), *_file_systems(plan)),
    )


def _services(plan: EksPlan) -> Iterator[Box]:
    yield Box(
        kind="control-plane",
        title=plan.name,
        caption="EKS control plane, in a VPC of AWS",
        lines=tuple(_control_plane(plan)),
        resource=f"trainyard:eks:EksCluster::{plan.name}",
    )
    names = ("vpc-cni", "kube-proxy", "coredns", *(each.name for each in plan.addons))
    own = ", ".join(plan.self_managed_addons)
    yield Box(
        kind="service",
        title="Add-ons",
        caption="in the cluster",
        lines=(f"of EKS: {', '.join(names)}", *([f"self-managed: {own}"] if own else [])),
        resource=f"trainyard:architectures:ClusterServices::{plan.name}-services",
    )


def _control_plane(plan: EksPlan) -> Iterator[str]:
    yield f"Kubernetes {plan.kubernetes_version}"
    access = (("public", plan.endpoint_public_access), ("private", plan.endpoint_private_access))
    yield f"{' and '.join(name for name, on in access if on)} endpoint"
    if plan.endpoint_public_access and plan.public_access_cidrs:
        yield f"open to {', '.join(plan.public_access_cidrs)}"
    yield f"authentication mode {plan.authentication_mode}"
    if plan.secrets_key_arn:
        yield "secrets encrypted with your KMS key"


def _group(group: NodeGroupPlan, plan: EksPlan) -> Box:
    return nodes_box(
        group,
        caption=f"{group.management} node group",
        resource=f"{_COMPONENTS[group.management]}::{plan.name}-{group.name}",
    )


def _file_systems(plan: EksPlan) -> Iterator[Occupant]:
    for each in plan.file_systems:
        size = [f"{each.capacity_gib} GiB"] if each.capacity_gib else []
        kind = [each.settings.deployment_type] if each.settings else []
        yield Occupant(
            box=Box(
                kind="storage",
                title=each.file_system_id or each.name,
                caption="FSx for Lustre",
                lines=(
                    *filter(None, [", ".join((*size, *kind))]),
                    f"claim {each.claim.namespace}/{each.claim.name}",
                ),
                outside=each.settings is None,
                resource=f"trainyard:storage:FsxLustre::{plan.name}-{each.name}"
                if each.settings
                else "",
            ),
            subnets=each.subnets,
            in_one=True,
        )
