"""What a ParallelCluster stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from typing_extensions import override

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import Reading
from trainyard.components.account.reservation_holders import look_up_holders
from trainyard.components.account.reservations import unseen_reservation_warnings
from trainyard.components.checks.account_part import AccountPart
from trainyard.components.checks.check import Check, Subject
from trainyard.components.checks.image_subjects import image_subjects
from trainyard.components.checks.key_pair_check import key_pair_subjects
from trainyard.components.checks.made_name_check import (
    CLOUDFORMATION_STACK,
    SLURM_CLUSTER,
    group_names,
)
from trainyard.components.checks.needs import ArchitectureNeeds, NodeNeeds
from trainyard.components.checks.pool_check import ADDRESSES, address_problems
from trainyard.components.checks.quota_needs import Need
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.parallelcluster.address_capacity import addresses_by_subnet
from trainyard.components.parallelcluster.complete import complete_cluster
from trainyard.components.parallelcluster.deployed_lookup import (
    look_up_deployed,
    look_up_deployed_key,
    look_up_fleet_stopped,
)
from trainyard.components.parallelcluster.head_node_check import (
    HEAD_NODE_SUBNET,
    head_node_problems,
)
from trainyard.components.parallelcluster.image_check import (
    image_problems,
    image_warnings,
)
from trainyard.components.parallelcluster.key_check import key_problems, replaced_key_problems
from trainyard.components.parallelcluster.mounted_storage_check import (
    MOUNTED_STORAGE,
    mounted_storage_problems,
)
from trainyard.components.parallelcluster.mounted_storage_lookup import (
    look_up_efs,
    look_up_open_zfs,
    look_up_volumes,
)
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, deployment_stack_name
from trainyard.components.parallelcluster.queue_subnet_check import (
    QUEUE_SUBNETS,
    queue_subnet_problems,
)
from trainyard.components.parallelcluster.quota_needs import (
    PARALLELCLUSTER_QUOTAS,
    parallelcluster_needs,
)
from trainyard.components.parallelcluster.rendering.cluster import render_cluster
from trainyard.components.parallelcluster.static_capacity_check import (
    STATIC_CAPACITY,
    full_reservations,
    static_capacity_problems,
)
from trainyard.components.parallelcluster.surge_review import surge_problems
from trainyard.components.parallelcluster.update_review import update_problems

CLUSTER_CHANGES = Subject("architecture", "ParallelCluster accepts the changes of the stack file")
"""What `update_problems` checks."""
SURGES = Subject("architecture.queues", "no update needs more nodes than the reservation has")
"""What `surge_problems` checks."""


class ParallelClusterAccount(AccountPart[ParallelClusterStackConfig, ParallelClusterPlan]):
    """Readings and checks of a ParallelCluster stack."""

    needs = ArchitectureNeeds(
        quotas=PARALLELCLUSTER_QUOTAS,
        nodes=NodeNeeds(
            dns="ParallelCluster rejects such a VPC: nodes resolve each other by name",
            registry="AWS",
            endpoints=frozenset({"cloudformation", "dynamodb", "ec2", "logs", "s3"}),
            closed=(
                "nodes here cannot configure themselves: the subnet has no default route, and the "
                "VPC lacks an endpoint for at least one of cloudformation, dynamodb, ec2, logs "
                "and s3"
            ),
            endpoint_owner="ParallelCluster",
        ),
        zone_users="shared storage and NAT gateways",
    )
    """Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/network-configuration-v3.html,
    "AWS ParallelCluster in a single subnet with no internet access"; `SubnetsValidator` of
    aws-parallelcluster 3.16.1 for DNS."""
    pool_image_remedy = (
        "set `custom_ami_id` of the queue or of `architecture` to an AMI of your own, or choose "
        "another `operating_system`"
    )

    @override
    def is_up(self, config: ParallelClusterStackConfig, facts: AccountFacts) -> bool:
        """Whether the cluster is deployed."""
        return facts.deployed_cluster is not None

    @override
    def readings(
        self, reader: AccountReader, config: ParallelClusterStackConfig
    ) -> Iterator[Reading]:
        """Yield the readings of the deployed cluster and of mounted storage."""
        yield lambda: _deployed(reader, config)
        yield lambda: {"efs": look_up_efs(reader, config)}
        yield lambda: {"open_zfs": look_up_open_zfs(reader, config)}
        yield lambda: {"volumes": look_up_volumes(reader, config)}

    @override
    def later_readings(
        self, reader: AccountReader, config: ParallelClusterStackConfig, facts: AccountFacts
    ) -> Iterator[Reading]:
        """Yield the reading of who holds the reservations that are too full for a new cluster."""
        full = full_reservations(config, facts)
        if full:
            yield lambda: {"reservation_holders": look_up_holders(reader, full)}

    @override
    def made_names(self, config: ParallelClusterStackConfig) -> Iterator[Named]:
        """Yield the names of the CloudFormation stacks, and those of reservation groups."""
        yield Named(CLOUDFORMATION_STACK, deployment_stack_name(config.name), "name")
        yield Named(SLURM_CLUSTER, config.name, "name")
        yield from group_names(config)

    @override
    def completed(
        self, config: ParallelClusterStackConfig, facts: AccountFacts
    ) -> ParallelClusterArchitecture:
        """Return the architecture with the subnets of queues and head node."""
        return complete_cluster(config.architecture, config, facts)

    @override
    def checks(
        self,
        config: ParallelClusterStackConfig,
        facts: AccountFacts,
        *,
        stack_file: str,
        now: datetime,
    ) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
        architecture = config.architecture
        if isinstance(config.network, ExistingVpc):
            head_node = head_node_problems(architecture.head_node, config.network, facts)
            yield Check("head node", head_node, [HEAD_NODE_SUBNET])
        queues = queue_subnet_problems(architecture, facts)
        yield Check("queue subnets", queues, [QUEUE_SUBNETS])
        yield Check(
            "key pairs", key_problems(architecture, facts), key_pair_subjects(config, facts)
        )
        yield Check("key pairs", replaced_key_problems(config, facts))
        yield Check("images", image_problems(architecture, facts), image_subjects(config, facts))
        capacity = static_capacity_problems(config, facts, stack_file=stack_file)
        yield Check("static capacity", capacity, [STATIC_CAPACITY] if config.reservations else [])

    @override
    def plan_checks(
        self, plan: ParallelClusterPlan, facts: AccountFacts, *, stack_file: str
    ) -> Iterator[Check]:
        """Yield the checks of a plan, including updates that ParallelCluster refuses."""
        rooms = address_problems(
            addresses_by_subnet(plan),
            plan.network,
            facts,
            takers="interfaces",
            remedy="or fewer nodes",
        )
        yield Check("addresses", rooms, [ADDRESSES])
        yield Check("mounted storage", mounted_storage_problems(plan, facts), [MOUNTED_STORAGE])
        if facts.deployed_cluster is not None:
            rendered = render_cluster(plan)
            changes = update_problems(
                facts.deployed_cluster,
                rendered,
                stack_file=stack_file,
                cluster_name=plan.name,
                fleet_stopped=facts.fleet_stopped,
            )
            yield Check("changes of the cluster", changes, [CLUSTER_CHANGES])
            surges = surge_problems(
                facts.deployed_cluster,
                rendered,
                _instances(facts),
                stack_file=stack_file,
                fleet_stopped=facts.fleet_stopped,
            )
            yield Check("reservation capacity during updates", surges, [SURGES])

    @override
    def quota_needs(self, plan: ParallelClusterPlan) -> Iterator[Need]:
        """Yield what the cluster needs of quotas."""
        yield from parallelcluster_needs(plan)

    @override
    def warnings(
        self, config: ParallelClusterStackConfig, plan: ParallelClusterPlan, facts: AccountFacts
    ) -> Iterator[str]:
        """Yield warnings to show before any change."""
        yield from image_warnings(config.architecture, facts)
        yield from unseen_reservation_warnings(config, facts)


def _deployed(reader: AccountReader, config: ParallelClusterStackConfig) -> Mapping[str, Any]:
    deployed = look_up_deployed(reader, deployment_stack_name(config.name))
    imports_key = config.architecture.head_node.ssh.public_key is not None
    return {
        "deployed_cluster": deployed,
        "deployed_key": look_up_deployed_key(reader, deployed)
        if deployed and imports_key
        else None,
        "fleet_stopped": deployed is not None and look_up_fleet_stopped(reader, config.name),
    }


def _instances(facts: AccountFacts) -> dict[str, int]:
    """Return the number of instances, by reservation and by reservation group."""
    alone = {name: found.instance_count for name, found in facts.reservations.items()}
    groups = {
        arn: sum(alone.get(member, 0) for member in members)
        for arn, members in facts.reservation_groups.items()
    }
    return alone | groups
