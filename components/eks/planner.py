"""Plan an EKS stack, or report every problem of its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.components.capacity.pool_review import review_instance_type
from trainyard.components.capacity.reservation_review import review_reservations
from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.eks.addon_review import review_addon_versions, review_addons
from trainyard.components.eks.addons.eks_managed import (
    installed_versions,
    plan_eks_addons,
)
from trainyard.components.eks.addons.registry import plan_self_managed_addons, plan_tolerations
from trainyard.components.eks.address_capacity import review_address_capacity
from trainyard.components.eks.cluster_metrics import (
    container_insights,
    exporter_alerts,
    node_group_metrics,
)
from trainyard.components.eks.cluster_review import (
    plan_log_group,
    review_cluster,
    review_eks_network,
    review_public_images,
)
from trainyard.components.eks.label_plan import review_labels, review_managed
from trainyard.components.eks.manifest_review import (
    review_claims,
    review_collectors,
    review_manifests,
)
from trainyard.components.eks.node_group_plan import (
    SYSTEM_NODE_GROUP,
    Context,
    NodeGroupPlan,
    labeled_without_efa,
    plan_node_group,
    plan_system_node_group,
    version_of,
)
from trainyard.components.eks.node_group_review import review_node_group, review_system_pods
from trainyard.components.eks.plan import AddonVersions, EksPlan
from trainyard.components.eks.scraper_plan import plan_scraper, review_scraper
from trainyard.components.monitoring.lustre import LustreSubject
from trainyard.components.monitoring.plan import MonitoringPlan
from trainyard.components.monitoring.planner import limits_of, plan_monitoring
from trainyard.components.named.derived_names import NODE_ROLE, DerivedName, NamedPart, review_names
from trainyard.components.naming import (
    EKS_NODE_GROUP_NAME_LIMIT,
    IAM_ROLE_NAME_LIMIT,
    MANAGED_NODE_GROUP,
)
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.network.pool_place import review_launch_zones
from trainyard.components.network.vpc_review import review_new_vpc
from trainyard.components.storage.storage_plan import (
    FsxLustrePlan,
    Neighbour,
    StoragePlace,
    plan_storage,
)
from trainyard.components.tagging import common_tags


def plan_file_systems(
    config: EksStackConfig,
    network: NetworkPlan,
    groups: Sequence[NodeGroupPlan],
    review: Review,
    *,
    subnets_known: bool,
) -> tuple[FsxLustrePlan, ...]:
    """Return the file systems of a stack; the system node group does not affect placement."""
    place = StoragePlace(
        network=network,
        neighbours=[_neighbour(group) for group in groups if group.name in _work(config)],
        subnets_known=subnets_known,
    )
    tags = common_tags(config.name, config.tags)
    return plan_storage(config.storage, place, tags=tags, review=review)


def _work(config: EksStackConfig) -> set[str]:
    return set(config.architecture.node_groups)


def _neighbour(group: NodeGroupPlan) -> Neighbour:
    reserved = group.capacity.kind in {"odcr", "capacity-block"}
    efa = group.interfaces is not None
    return Neighbour(
        name=group.name,
        subnets=group.subnets,
        efa=efa,
        in_one_zone=reserved or efa or group.capacity.availability_zone is not None,
    )


_NODE_GROUP = DerivedName(
    "{stack}-{part}" + MANAGED_NODE_GROUP, EKS_NODE_GROUP_NAME_LIMIT, "its node group in EKS"
)
CLUSTER_NAMES = (
    # The role is a child of pulumi-eks.
    DerivedName("{stack}-eks-eksRole-role", IAM_ROLE_NAME_LIMIT, "the IAM role of the cluster"),
    *(
        replace(each, pattern=each.logical("{stack}", SYSTEM_NODE_GROUP), resource=resource)
        for each, resource in (
            (NODE_ROLE, "the IAM role of the system nodes"),
            (_NODE_GROUP, "the system node group"),
        )
    ),
)
"""Names that are derived from the name of the stack alone."""


def named_groups(config: EksStackConfig) -> Iterator[NamedPart]:
    """Yield the node groups of the stack file; a self-managed one has only a role."""
    for name, group in config.architecture.node_groups.items():
        derived = (NODE_ROLE, _NODE_GROUP) if group.management == "managed" else (NODE_ROLE,)
        yield NamedPart("node_groups", "node group", name, derived, group.pool_named(name))


def plan_stack(context: Context, review: Review) -> EksPlan:
    """Return the plan of an EKS stack.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    config, region = context.config, context.region
    review_names(config, review, derived=CLUSTER_NAMES, parts=named_groups(config))
    review_cluster(config, context.now, review)
    if isinstance(config.network, NewVpc):
        review_new_vpc(config.network, region, review)
        review_eks_network(config.network, config.architecture, review)
    review_reservations(config, region, context.now, review)
    groups = [_system(context, review), *_node_groups(context, review)]
    planned = labeled_without_efa(group for group in groups if group is not None)
    review_addons(config, review)
    review_scraper(config, review)
    review_system_pods(config, planned, review)
    review_addon_versions(config.architecture, planned, review)
    review_address_capacity(planned, context.network, review)
    if isinstance(config.network, NewVpc):
        review_public_images(config.network, config, planned, review)
    file_systems = plan_file_systems(
        config, context.network, planned, review, subnets_known=context.subnets_known
    )
    review_claims(config, file_systems, review, is_account_known=context.subnets_known)
    review.close()
    plan = _plan(context, planned, notes=review.notes)
    review_collectors(config, plan, review)
    review_manifests(plan, review)
    review.close()
    return replace(
        plan,
        file_systems=file_systems,
        monitoring_plan=_monitoring(context, planned, file_systems),
    )


def _monitoring(
    context: Context, groups: Sequence[NodeGroupPlan], file_systems: Sequence[FsxLustrePlan]
) -> MonitoringPlan | None:
    config = context.config
    insights = config.uses_cloudwatch_observability
    return plan_monitoring(
        config,
        region=context.region,
        now=context.now,
        pools=groups,
        file_systems=[
            LustreSubject(
                name=each.name,
                capacity_gib=each.capacity_gib,
                file_system_id=each.file_system_id,
            )
            for each in file_systems
        ],
        more=[
            *([container_insights(config.name, groups, limits_of(config))] if insights else []),
            *(node_group_metrics(group) for group in groups),
        ],
        alerts=(
            exporter_alerts(config.name, groups, limits_of(config))
            if config.node_metrics == "prometheus"
            else ()
        ),
    )


def _system(context: Context, review: Review) -> NodeGroupPlan | None:
    key = "architecture.system_node_group"
    group = context.config.architecture.system_node_group
    instance_type = review_instance_type(review, key, group.instance_type)
    if instance_type and instance_type.accelerators:
        review.note(
            f"{key}: {group.instance_type} has {instance_type.accelerators.model} accelerators, "
            "which neither the services of the cluster nor jobs on node groups use; choose a "
            "general purpose type such as m5.large"
        )
    review_labels(review, key, group.labels)
    review_managed(review, key, group.labels)
    return plan_system_node_group(context)


def _node_groups(context: Context, review: Review) -> list[NodeGroupPlan | None]:
    planned: list[NodeGroupPlan | None] = []
    for name, group in context.config.architecture.node_groups.items():
        review_node_group(name, group, context, review)
        planned.append(plan_node_group(name, group, context, review))
    places = (
        context.place(f"architecture.node_groups.{plan.name}")
        for plan in planned
        if plan is not None
    )
    review_launch_zones(places, context, review)
    return planned


def _plan(
    context: Context,
    groups: list[NodeGroupPlan],
    *,
    notes: list[str],
) -> EksPlan:
    config, version = context.config, version_of(context.config)
    architecture, versions = config.architecture, installed_versions(config, version)
    return EksPlan(
        name=config.name,
        region=context.region,
        tags=common_tags(config.name, config.tags),
        network=context.network,
        kubernetes_version=version.minor,
        authentication_mode=architecture.authentication_mode,
        node_authorization=architecture.node_authorization,
        endpoint_public_access=architecture.endpoint.public_access,
        endpoint_private_access=architecture.endpoint.private_access,
        public_access_cidrs=architecture.endpoint.public_access_cidrs,
        log_types=architecture.log_types,
        log_group=plan_log_group(config, context.log_groups),
        secrets_key_arn=architecture.secrets_key_arn,
        addon_versions=AddonVersions(
            vpc_cni=versions["vpc-cni"],
            kube_proxy=versions["kube-proxy"],
            coredns=versions["coredns"],
        ),
        addons=plan_eks_addons(config, version, groups),
        self_managed_addons=plan_self_managed_addons(config, groups),
        scraper=plan_scraper(config, context.network),
        node_groups=tuple(groups),
        device_plugin_tolerations=plan_tolerations(groups),
        notes=(*(f"{g.name}: {g.schedule.message}" for g in groups if g.schedule.message), *notes),
    )
