"""From the configuration of an EKS stack to its plan, or to everything that is wrong with it."""

from __future__ import annotations

from datetime import datetime

from components.architectures.eks_cluster_review import review_cluster
from components.architectures.eks_name_review import review_names
from components.architectures.eks_reservation_review import review_reservations
from components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    EksVersion,
)
from components.config.network import ExistingVpc
from components.config.review import Review
from components.config.stack import StackConfig
from components.eks.device_plugin_plan import plan_device_plugins, plan_tolerations
from components.eks.label_plan import review_labels
from components.eks.node_group_plan import (
    NodeGroupContext,
    plan_node_group,
    plan_system_node_group,
)
from components.eks.node_group_review import review_instance_type, review_node_group
from components.eks.plan import AddonVersions, EksPlan, NodeGroupPlan
from components.tagging import common_tags


def plan_eks(
    config: StackConfig,
    *,
    stack_file: str,
    region: str,
    now: datetime,
    subnets_known: bool = False,
) -> EksPlan:
    """Return everything that the components of an EKS stack need.

    `now` must carry its offset. Without an account nobody knows which subnet lies in which zone:
    a node group that must launch in one zone then keeps all private subnets, and a note says so.
    With `subnets_known` (the account was asked, and `subnet_id` of such node groups was filled
    in) that is refused.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    review = Review(stack_file=stack_file)
    context = NodeGroupContext(
        config=config,
        # A version that is not pinned is refused below; the rest is planned to be judged.
        version=EKS_VERSIONS.get(
            config.architecture.kubernetes_version, EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION]
        ),
        private_subnet_ids=_private_subnet_ids(config),
        now=now,
    )
    review_names(config, review)
    review_cluster(config, now, review)
    review_reservations(config, region, now, review)
    groups = [_system(context, review), *_node_groups(context, region, review)]
    for group in groups:
        if group is not None:
            _review_one_subnet(group, review, subnets_known=subnets_known)
    review.close()
    planned = [group for group in groups if group is not None]
    return _plan(config, context.version, planned, region=region, notes=review.notes)


def _private_subnet_ids(config: StackConfig) -> tuple[str, ...]:
    network = config.network
    return network.private_subnet_ids if isinstance(network, ExistingVpc) else ()


def _system(context: NodeGroupContext, review: Review) -> NodeGroupPlan | None:
    key = "architecture.system_node_group"
    group = context.config.architecture.system_node_group
    review_instance_type(review, key, group.instance_type)
    review_labels(review, key, group.labels)
    return plan_system_node_group(context)


def _node_groups(
    context: NodeGroupContext, region: str, review: Review
) -> list[NodeGroupPlan | None]:
    planned: list[NodeGroupPlan | None] = []
    for name, group in context.config.architecture.node_groups.items():
        review_node_group(name, group, context, region, review)
        planned.append(plan_node_group(name, group, context, review))
    return planned


def _review_one_subnet(group: NodeGroupPlan, review: Review, *, subnets_known: bool) -> None:
    reserved = group.capacity.kind in {"odcr", "capacity-block"}
    in_one_zone = reserved or group.interfaces or group.capacity.availability_zone
    if len(group.subnet_ids) == 1 or not in_one_zone:
        return
    zone = group.capacity.availability_zone or "the zone of its capacity"
    if not subnets_known:
        review.note(
            f"node group {group.name}: launches in the private subnet in {zone}, which only the "
            "account knows"
        )
        return
    review.refuse(
        f"architecture.node_groups.{group.name}.subnet_id",
        f"is missing, and the account did not say which private subnet lies in {zone}",
        allowed=", ".join(group.subnet_ids),
        remedy=review.set_command(f"architecture.node_groups.{group.name}.subnet_id", "subnet-…"),
    )


def _plan(
    config: StackConfig,
    version: EksVersion,
    groups: list[NodeGroupPlan],
    *,
    region: str,
    notes: list[str],
) -> EksPlan:
    network, architecture = config.network, config.architecture
    if not isinstance(network, ExistingVpc):
        raise TypeError(f"no plan for a network of kind {network.kind}")
    return EksPlan(
        name=config.name,
        region=region,
        tags=common_tags(config.name, config.tags),
        vpc_id=network.vpc_id,
        control_plane_subnet_ids=(*network.public_subnet_ids, *network.private_subnet_ids),
        private_subnet_ids=network.private_subnet_ids,
        kubernetes_version=version.minor,
        authentication_mode=architecture.authentication_mode,
        node_authorization=architecture.node_authorization,
        endpoint_public_access=architecture.endpoint.public_access,
        endpoint_private_access=architecture.endpoint.private_access,
        public_access_cidrs=architecture.endpoint.public_access_cidrs,
        log_types=architecture.log_types,
        addon_versions=AddonVersions(
            vpc_cni=version.vpc_cni, kube_proxy=version.kube_proxy, coredns=version.coredns
        ),
        node_groups=tuple(groups),
        device_plugins=plan_device_plugins(groups),
        device_plugin_tolerations=plan_tolerations(groups),
        notes=(*(f"{g.name}: {g.schedule.message}" for g in groups if g.schedule.message), *notes),
    )
