"""What an EKS stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime

from typing_extensions import override

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.launch_place import placed
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.preflight_facts import PreflightFacts
from trainyard.components.account.readings import Reading
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.checks.account_part import AccountPart
from trainyard.components.checks.check import Check
from trainyard.components.checks.key_pair_check import key_pair_subjects, pool_key_problems
from trainyard.components.checks.made_name_check import EKS_CLUSTER, LOG_GROUP, group_names
from trainyard.components.checks.needs import ArchitectureNeeds, NodeNeeds, ServiceRole
from trainyard.components.checks.pool_check import ADDRESSES, address_problems
from trainyard.components.checks.quota_needs import Need
from trainyard.components.checks.row import Row
from trainyard.components.checks.used_image import UsedImage
from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT
from trainyard.components.eks.addon_version_check import (
    addon_offer_readings,
    addon_version_problems,
    addon_version_subjects,
    addon_version_warnings,
)
from trainyard.components.eks.addons.registry import addon_images, verification_images
from trainyard.components.eks.address_capacity import addresses_by_subnet
from trainyard.components.eks.authorization_check import (
    AUTHORIZATION,
    authorization_problems,
    authorization_warnings,
    needs_aws_auth,
)
from trainyard.components.eks.cluster_lookup import look_up_cluster
from trainyard.components.eks.control_plane_check import (
    CONTROL_PLANE_SUBNETS,
    control_plane_problems,
)
from trainyard.components.eks.egress_check import IMAGES_OF_PODS, egress_problems
from trainyard.components.eks.file_system_check import (
    file_system_plan_problems,
    file_system_warnings,
)
from trainyard.components.eks.log_group_check import adopted_log_groups, log_group_warnings
from trainyard.components.eks.log_group_plan import control_plane_log_group
from trainyard.components.eks.network_review import ZONES_WITHOUT_EKS
from trainyard.components.eks.plan import EksPlan
from trainyard.components.eks.quota_needs import EKS_QUOTAS, eks_needs
from trainyard.components.eks.version_check import (
    version_problems,
    version_subject,
    version_warnings,
)
from trainyard.components.eks.version_support import look_up_versions, version_rows


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
    def checks(
        self, config: EksStackConfig, facts: AccountFacts, *, stack_file: str, now: datetime
    ) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
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
        authorization = authorization_problems(config, facts, stack_file=stack_file)
        yield Check("authorization", authorization, [AUTHORIZATION])
        versions = version_problems(config, facts, stack_file=stack_file, now=now)
        yield Check("Kubernetes version", versions, [version_subject(facts)])
        addons = addon_version_problems(config, facts, stack_file=stack_file)
        yield Check("add-on versions", addons, addon_version_subjects(config))

    @override
    def plan_checks(
        self, plan: EksPlan, facts: AccountFacts, *, stack_file: str
    ) -> Iterator[Check]:
        """Yield the checks of a plan."""
        rooms = address_problems(
            addresses_by_subnet(plan.node_groups),
            plan.network,
            facts,
            takers="interfaces and pods",
            remedy="fewer nodes, or interface_layout: efa-only, which takes one address a node",
        )
        yield Check("addresses", rooms, [ADDRESSES])
        yield Check("images of pods", egress_problems(plan, facts), [IMAGES_OF_PODS])
        storage = file_system_plan_problems(plan, facts, stack_file=stack_file)
        yield Check("file systems", storage)

    @override
    def quota_needs(self, plan: EksPlan) -> Iterator[Need]:
        """Yield what the cluster needs of quotas."""
        yield from eks_needs(plan)

    @override
    def warnings(self, config: EksStackConfig, plan: EksPlan, facts: AccountFacts) -> Iterator[str]:
        """Yield warnings to show before any change."""
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
    def preflight_rows(
        self, config: EksStackConfig, facts: AccountFacts, more: PreflightFacts, today: date
    ) -> Iterable[Row]:
        """Return the row of the Kubernetes version."""
        return version_rows(config, facts, more, today)
