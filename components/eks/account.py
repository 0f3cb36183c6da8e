"""What an EKS stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from trainyard.components.account.check import (
    ArchitectureNeeds,
    Check,
    NodeNeeds,
    Row,
    ServiceRole,
    Subject,
)
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.account.reader import AccountReader, Reading
from trainyard.components.account_part import AccountPart
from trainyard.components.capacity.launch_place import placed
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.compute.image_registry import UsedImage
from trainyard.components.config.eks import EksArchitecture, EksStackConfig
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.eks.addons.registry import (
    addon_images,
    verification_images,
    with_public_images,
)
from trainyard.components.eks.address_capacity import addresses_by_subnet
from trainyard.components.eks.cluster_review import (
    MINIMUM_CONTROL_PLANE_ZONES,
    NEW_RETENTION_DAYS,
    ZONES_WITHOUT_EKS,
    control_plane_log_group,
)
from trainyard.components.eks.facts import ClusterFacts
from trainyard.components.eks.file_system_check import (
    file_system_plan_problems,
    file_system_warnings,
)
from trainyard.components.eks.lookup import addon_offer_readings, look_up_cluster, look_up_versions
from trainyard.components.eks.manifest_review import namespace_problems
from trainyard.components.eks.node_group_plan import EC2_LINUX, is_node_role_of
from trainyard.components.eks.plan import EksPlan
from trainyard.components.eks.version_check import (
    addon_version_problems,
    addon_version_subjects,
    addon_version_warnings,
    version_problems,
    version_rows,
    version_subject,
    version_warnings,
)
from trainyard.components.named.checks import key_pair_subjects, pool_key_problems
from trainyard.components.named.facts import LogGroupFacts
from trainyard.components.named.made_names import EKS_CLUSTER, LOG_GROUP, group_names
from trainyard.components.network.checks import ADDRESSES, address_problems
from trainyard.components.quotas.checks import Need
from trainyard.components.runtime.aws_auth_listing import review_map_roles, without_access_entry
from trainyard.components.runtime.aws_auth_plan import MapRolesError
from trainyard.components.tagging import creator_of

CONTROL_PLANE_SUBNETS = Subject(
    "network",
    "the control plane finds its subnets",
    calls=("ec2:DescribeSubnets",),
)
"""What `control_plane_problems` checks."""

NETWORK = f"{ROOT}.network"


def control_plane_problems(network: ExistingVpc, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why EKS cannot create a control plane in these subnets."""
    if not facts.could_read("ec2:DescribeSubnets"):
        return
    ids = (*network.public_subnet_ids, *network.private_subnet_ids)
    subnets = [facts.subnets[i] for i in ids if i in facts.subnets]
    for subnet in subnets:
        if subnet.zone_id in ZONES_WITHOUT_EKS:
            yield Problem(
                path=NETWORK,
                found=f"{subnet.subnet_id} in {subnet.availability_zone} ({subnet.zone_id})",
                problem="EKS serves no control plane with a subnet in this zone",
                remedy="leave this subnet out, and give one in another zone",
            )
    zones = sorted({s.availability_zone for s in subnets})
    if len(subnets) == len(ids) and len(zones) < MINIMUM_CONTROL_PLANE_ZONES:
        yield Problem(
            path=NETWORK,
            found=f"all subnets in {', '.join(zones)}",
            problem="an EKS control plane needs subnets in at least two zones",
            remedy="add a subnet of another zone to public_subnet_ids or private_subnet_ids",
        )


# Checks that nodes in an existing VPC can pull the images that the program installs.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html: without internet
# access, every image must be in a private ECR registry.


IMAGES_OF_PODS = Subject(
    "architecture",
    "the nodes reach the registries of their pods",
    calls=("ec2:DescribeRouteTables",),
)
"""What `egress_problems` checks."""


def egress_problems(plan: EksPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield the images that nodes in subnets without a default route cannot pull."""
    if plan.network.is_new or not facts.could_read("ec2:DescribeRouteTables"):
        return
    closed = {name for name, subnet in facts.subnets.items() if subnet.default_route == "none"}
    waiting: dict[str, list[str]] = {}
    subnets: set[str] = set()
    for group in plan.node_groups:
        without_route = closed.intersection(group.subnets)
        needed = with_public_images(
            name for name, served in plan.self_managed_addons.items() if group.name in served
        )
        if without_route and needed:
            subnets |= without_route
            for what in needed:
                waiting.setdefault(what, []).append(group.name)
    if waiting:
        images = " and ".join(f"{what} ({', '.join(names)})" for what, names in waiting.items())
        yield Problem(
            path=f"{ROOT}.network.private_subnet_ids",
            found=f"{', '.join(sorted(subnets))}, no default route",
            problem=(
                f"the image of {images} lies in a public registry, which no node here would reach"
            ),
            allowed="subnets with a way to the internet",
            remedy="route 0.0.0.0/0 of these subnets to a NAT gateway, or give other subnets",
        )


# Log groups that exist under the name of the group of a control plane, which the stack adopts.
#
# EKS creates a missing group without a retention time: when logs are turned on, and after a
# deletion for the last events of the deleted cluster.
#
# Sources:
#     https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSServiceRolePolicy.html,
#         `logs:CreateLogGroup`
#     https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2446 and issues/2763


def adopted_log_groups(facts: AccountFacts, now: datetime) -> dict[str, int]:
    """Return the log groups of no stack, with the days to keep their events, by name.

    A group that keeps its events forever gets the retention of a new one if it is younger.
    """
    oldest = now - timedelta(days=NEW_RETENTION_DAYS)
    return {
        name: found.retention_days or (NEW_RETENTION_DAYS if found.created_at > oldest else 0)
        for (_, name), found in facts.named.items()
        if isinstance(found, LogGroupFacts) and creator_of(found.tags) is None
    }


def log_group_warnings(config: EksStackConfig, plan: EksPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield what the adoption of a log group means for the logs that it has."""
    group = plan.log_group
    if group is None or not group.adopted:
        return
    if facts.cluster is None and facts.could_read("eks:DescribeCluster"):
        yield (
            f"the log group {group.name} exists, and becomes part of the stack with the logs of "
            "an earlier cluster of this name: `destroy` deletes them. To keep them, export them, "
            "or set `name` to another name"
        )
    if group.retention_days == 0 and config.architecture.log_retention_days is None:
        yield (
            f"the log group {group.name} keeps logs forever, which AWS charges for; set "
            f"`{ROOT}.architecture.log_retention_days` to the days to keep them, such as "
            f"{NEW_RETENTION_DAYS}, or to 0 if this is wanted"
        )


EKS_QUOTAS = (
    "eks-clusters",
    "managed-node-groups",
    "nodes-per-managed-node-group",
    "auto-scaling-groups",
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that an EKS stack counts towards."""


def eks_needs(plan: EksPlan) -> Iterator[Need]:
    """Yield the needs of the cluster and its node groups.

    EKS makes a security group for each cluster, an instance profile and an Auto Scaling group for
    each managed node group:
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    groups, key = plan.node_groups, "architecture.node_groups"
    managed = [group for group in groups if group.management == "managed"]
    with_efa = any(group.interfaces for group in groups)
    yield Need(quota="eks-clusters", key="architecture", amount=1)
    yield Need(quota="security-groups", key="architecture", amount=1 + with_efa)
    yield Need(quota="managed-node-groups", key=key, amount=len(managed))
    largest = max(managed, key=lambda group: group.nodes)
    yield Need(quota="nodes-per-managed-node-group", key=largest.key, amount=largest.nodes)
    yield Need(quota="auto-scaling-groups", key=key, amount=len(groups))
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(groups))
    yield Need(quota="iam-instance-profiles", key=key, amount=len(groups))


# Checks of changes to the authentication mode of a cluster.
#
# EKS changes the mode in one direction and one step at a time, without a way back. Changes that
# would lock nodes out are refused before any resource is registered.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html


AUTHORIZATION = Subject(
    "architecture.authentication_mode",
    "nodes and people keep their way in",
    calls=("eks:DescribeCluster",),
)
"""What `authorization_problems` checks."""

MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""In the order of the allowed changes."""

_MODE = f"{ROOT}.architecture.authentication_mode"
_HOW = f"{ROOT}.architecture.node_authorization"
_ENTRY_CALLS = ("eks:ListAccessEntries", "eks:DescribeAccessEntry")


def authorization_problems(
    config: EksStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield why the existing cluster cannot change to the mode in the stack file."""
    cluster, wanted = facts.cluster, config.architecture.authentication_mode
    if cluster is None:
        return
    steps = MODES.index(wanted) - MODES.index(cluster.authentication_mode)
    if steps < 0:
        yield _way_back(cluster, wanted, stack_file)
    elif steps > 1:
        yield _two_steps(cluster, wanted, stack_file)
    elif steps == 1 and wanted == "API":
        yield from _last_step(config, cluster, facts, stack_file)
    if cluster.aws_auth is not None and wanted != "API" and _self_managed(config):
        yield from _broken_map(cluster.aws_auth)


def authorization_warnings(config: EksStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield who loses access in the mode `API`: entries of `aws-auth` without an access entry."""
    cluster = facts.cluster
    if cluster is None or config.architecture.authentication_mode != "API":
        return
    lost = _lost(cluster)
    if lost:
        yield (
            f"authentication_mode: API ends the access of {len(lost)} that stand in aws-auth and "
            f"have no access entry: {'; '.join(lost)}. Make an entry for each that shall stay "
            f"(`aws eks create-access-entry --cluster-name {cluster.name} --principal-arn …`)"
        )


def needs_aws_auth(config: EksStackConfig) -> bool:
    """Return whether these checks need the `aws-auth` of the cluster."""
    return bool(_self_managed(config)) or config.architecture.authentication_mode == "API"


def _way_back(cluster: ClusterFacts, wanted: str, stack_file: str) -> Problem:
    mode = cluster.authentication_mode
    return Problem(
        path=_MODE,
        found=wanted,
        problem=(
            f"the cluster {cluster.name} is in the mode {mode}; EKS never takes access entries "
            "away from a cluster again, nor gives aws-auth back to one that left it"
        ),
        allowed=" or ".join(MODES[MODES.index(mode) :][:2]),
        remedy=set_command(_MODE, mode, stack_file=stack_file),
    )


def _two_steps(cluster: ClusterFacts, wanted: str, stack_file: str) -> Problem:
    between = MODES[1]
    return Problem(
        path=_MODE,
        found=wanted,
        problem=(
            f"the cluster {cluster.name} is in the mode {cluster.authentication_mode}, two steps "
            "away; EKS takes one at a time, and nodes would be locked out between them"
        ),
        allowed=f"{between} now, {wanted} with a later `up`",
        remedy=(
            f"{set_command(_MODE, between, stack_file=stack_file)}, run `up`, and then follow "
            "docs/authorization.md to the next step"
        ),
    )


def _last_step(
    config: EksStackConfig, cluster: ClusterFacts, facts: AccountFacts, stack_file: str
) -> Iterator[Problem]:
    if not all(facts.could_read(call) for call in _ENTRY_CALLS):
        yield Problem(
            path=_MODE,
            found="API",
            problem=(
                "the access entries of the cluster cannot be read, so it is unknown whether "
                "the nodes would lose access; this step cannot be undone"
            ),
            allowed=cluster.authentication_mode,
            remedy=f"let the caller use {' and '.join(_ENTRY_CALLS)}, and run again",
        )
        return
    for name in _self_managed(config):
        roles = [arn for arn in cluster.access_entries if is_node_role_of(arn, config.name, name)]
        if not any(cluster.access_entries[arn] == EC2_LINUX for arn in roles):
            yield _without_entry(name, cluster, stack_file)
    for role in sorted(cluster.node_role_arns):
        if cluster.access_entries.get(role) != EC2_LINUX:
            yield _managed_without_entry(role, cluster)


def _without_entry(group: str, cluster: ClusterFacts, stack_file: str) -> Problem:
    lost = _lost(cluster)
    also = f" Without an access entry are also: {'; '.join(lost)}." if lost else ""
    first = set_command(_MODE, cluster.authentication_mode, stack_file=stack_file)
    second = set_command(_HOW, "access-entry", stack_file=stack_file)
    return Problem(
        path=_MODE,
        found="API",
        problem=(
            f"the role of the node group {group} has no access entry of type {EC2_LINUX} yet; its "
            f"nodes would be locked out, and this step cannot be undone.{also}"
        ),
        allowed=f"{cluster.authentication_mode} until an earlier `up` has made the entry",
        remedy=f"{first}, {second}, run `up`, and only then set API",
    )


def _managed_without_entry(role: str, cluster: ClusterFacts) -> Problem:
    return Problem(
        path=_MODE,
        found="API",
        problem=(
            f"EKS has no access entry for {role}, the role of a managed node group; its nodes "
            "would be locked out, and this step cannot be undone"
        ),
        remedy=(
            f"aws eks create-access-entry --cluster-name {cluster.name} --principal-arn {role} "
            f"--type {EC2_LINUX}"
        ),
    )


def _broken_map(aws_auth: Mapping[str, str]) -> Iterator[Problem]:
    try:
        review_map_roles(aws_auth)
    except MapRolesError as error:
        yield Problem(
            path=_HOW,
            problem=str(error),
            remedy="kubectl -n kube-system edit configmap aws-auth, and run `up` again",
        )


def _lost(cluster: ClusterFacts) -> list[str]:
    return without_access_entry(cluster.aws_auth or {}, cluster.access_entry_arns)


def _self_managed(config: EksStackConfig) -> list[str]:
    groups = config.architecture.node_groups.items()
    return [name for name, group in groups if group.management == "self-managed"]


class EksAccount(AccountPart[EksStackConfig, EksPlan]):
    """Readings and checks of an EKS stack."""

    needs = ArchitectureNeeds(
        quotas=EKS_QUOTAS,
        nodes=NodeNeeds(
            dns="EKS nodes cannot register without it",
            registry="the registry",
            endpoints=frozenset({"ec2", "ecr.api", "ecr.dkr", "s3", "sts"}),
            closed=(
                "nodes here cannot pull images and join: no route out, and not every endpoint of "
                "ec2, ecr.api, ecr.dkr, s3 and sts"
            ),
            endpoint_owner="EKS",
        ),
        zone_users="a control plane and its NAT gateways",
        excluded_zones=ZONES_WITHOUT_EKS,
        places_file_systems=True,
        service_roles=(
            ServiceRole("AWSServiceRoleForAmazonEKS", "eks.amazonaws.com", "architecture"),
            ServiceRole(
                "AWSServiceRoleForAmazonEKSNodegroup",
                "eks-nodegroup.amazonaws.com",
                "architecture.system_node_group",
            ),
            ServiceRole(
                "AWSServiceRoleForAutoScaling",
                "autoscaling.amazonaws.com",
                "architecture.node_groups",
            ),
        ),
    )
    """Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html."""
    pool_image_remedy = (
        f"set `{ROOT}.architecture.kubernetes_version` to another version of "
        f"{', '.join(EKS_VERSIONS)}, or update trainyard, which pins another AMI release"
    )

    @override
    def container_images(self, plan: EksPlan, *, stack_file: str) -> Iterator[UsedImage]:
        """Yield the images of add-ons, and those of `verify`."""
        yield from addon_images(plan, stack_file=stack_file)
        yield from verification_images(plan)

    @override
    def is_up(self, config: EksStackConfig, facts: AccountFacts) -> bool:
        """Whether the cluster exists."""
        return facts.cluster is not None

    @override
    def readings(self, reader: AccountReader, config: EksStackConfig) -> Iterator[Reading]:
        """Yield the readings of the cluster and of the offered add-on versions."""
        yield lambda: {
            "cluster": look_up_cluster(
                reader,
                config.name,
                wanted_version=config.architecture.kubernetes_version,
                with_aws_auth=needs_aws_auth(config),
            )
        }
        yield from addon_offer_readings(reader, config)

    @override
    def made_names(self, config: EksStackConfig) -> Iterator[Named]:
        """Yield the names of the cluster, of its log group and of reservation groups."""
        yield Named(EKS_CLUSTER, config.name, "name")
        if config.architecture.log_types:
            yield Named(LOG_GROUP, control_plane_log_group(config.name), "name")
        yield from group_names(config)

    @override
    def completed(self, config: EksStackConfig, facts: AccountFacts) -> EksArchitecture:
        """Return the architecture with the subnets of node groups."""
        groups = placed(config.architecture.node_groups, config, facts)
        return config.architecture.model_copy(update={"node_groups": groups})

    @override
    def log_groups(self, facts: AccountFacts, now: datetime) -> dict[str, int]:
        """Return the log group of an earlier cluster, or the one that EKS has created."""
        return adopted_log_groups(facts, now)

    @override
    def checks(self, known: Known[EksStackConfig, EksPlan]) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
        config, facts = known.config, known.facts
        if isinstance(config.network, ExistingVpc):
            subnets = control_plane_problems(config.network, facts)
            yield Check("control plane subnets", subnets, [CONTROL_PLANE_SUBNETS])
        pools = config.architecture.node_groups
        keys = pool_key_problems(
            "architecture.node_groups",
            {pool.pool_named(name): pool.ssh_key_name for name, pool in pools.items()},
            facts,
            remedy="remove ssh_key_name",
        )
        yield Check("key pairs", keys, key_pair_subjects(config, facts))
        authorization = authorization_problems(config, facts, stack_file=known.stack_file)
        yield Check("authorization", authorization, [AUTHORIZATION])
        versions = version_problems(config, facts, stack_file=known.stack_file, now=known.now)
        yield Check("Kubernetes version", versions, [version_subject(facts)])
        addons = addon_version_problems(config, facts, stack_file=known.stack_file)
        yield Check("add-on versions", addons, addon_version_subjects(config))

    @override
    def plan_checks(self, known: Known[EksStackConfig, EksPlan]) -> Iterator[Check]:
        """Yield the checks of a plan."""
        plan, facts = known.plan, known.facts
        rooms = address_problems(
            addresses_by_subnet(plan.node_groups),
            plan.network,
            facts,
            takers="interfaces and pods",
            remedy="fewer nodes, or interface_layout: efa-only, which takes one address a node",
        )
        yield Check("addresses", rooms, [ADDRESSES])
        yield Check("images of pods", egress_problems(plan, facts), [IMAGES_OF_PODS])
        storage = file_system_plan_problems(plan, facts, stack_file=known.stack_file)
        yield Check("file systems", storage)
        if facts.cluster is None and facts.could_read("eks:DescribeCluster"):
            spaces = namespace_problems(
                known.config, plan.file_systems, stack_file=known.stack_file
            )
            yield Check("namespaces", spaces)

    @override
    def quota_needs(self, plan: EksPlan) -> Iterator[Need]:
        """Yield what the cluster needs of quotas."""
        yield from eks_needs(plan)

    @override
    def warnings(self, known: Known[EksStackConfig, EksPlan]) -> Iterator[str]:
        """Yield warnings to show before any change."""
        config, plan, facts = known.config, known.plan, known.facts
        yield from authorization_warnings(config, facts)
        yield from version_warnings(config, facts)
        yield from addon_version_warnings(config, facts)
        yield from log_group_warnings(config, plan, facts)
        yield from file_system_warnings(plan, facts)

    @override
    def preflight_readings(
        self, reader: AccountReader, config: EksStackConfig
    ) -> Iterator[Reading]:
        """Yield the reading of the Kubernetes versions that EKS supports."""
        yield lambda: {"kubernetes_versions": look_up_versions(reader)}

    @override
    def preflight_rows(self, known: Known[EksStackConfig, EksPlan]) -> Iterable[Row]:
        """Return the row of the Kubernetes version."""
        today = known.now.astimezone(UTC).date()
        return version_rows(known.config, known.facts, known.more, today)
