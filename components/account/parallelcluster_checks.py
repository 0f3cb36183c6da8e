"""Account checks that are specific to ParallelCluster stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.account.check import Check
from components.account.facts import AccountFacts
from components.account.head_node_check import head_node_problems
from components.account.lookup import AccountReader
from components.account.mounted_storage_check import mounted_storage_problems
from components.account.mounted_storage_lookup import (
    look_up_efs,
    look_up_open_zfs,
    look_up_volumes,
)
from components.account.parallelcluster_image_check import (
    image_ids,
    image_problems,
    image_warnings,
)
from components.account.parallelcluster_key_check import key_problems, replaced_key_problems
from components.account.parallelcluster_lookup import (
    look_up_deployed,
    look_up_deployed_key,
    look_up_fleet_stopped,
)
from components.account.pool_check import address_problems
from components.account.queue_subnet_check import queue_subnet_problems
from components.account.readings import Reading
from components.account.reservations import unseen_reservations
from components.config.network import ExistingVpc
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.parallelcluster.address_capacity import addresses_by_subnet
from components.parallelcluster.plan import ParallelClusterPlan, deployment_stack_name
from components.parallelcluster.rendering.cluster import render_cluster
from components.parallelcluster.surge_review import surge_problems
from components.parallelcluster.update_review import update_problems


def parallelcluster_readings(
    reader: AccountReader, config: ParallelClusterStackConfig
) -> Iterator[Reading]:
    """Yield the readings for a ParallelCluster stack."""
    yield lambda: _deployed(reader, config)
    for image_id in image_ids(config.architecture):
        yield lambda image_id=image_id: {"images": reader.images(image_id)}
    yield lambda: {"efs": look_up_efs(reader, config)}
    yield lambda: {"open_zfs": look_up_open_zfs(reader, config)}
    yield lambda: {"volumes": look_up_volumes(reader, config)}


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


def parallelcluster_checks(
    config: ParallelClusterStackConfig, facts: AccountFacts
) -> Iterator[Check]:
    """Yield the checks of a completed configuration."""
    architecture = config.architecture
    if isinstance(config.network, ExistingVpc):
        head_node = head_node_problems(architecture.head_node, config.network, facts)
        yield Check("head node", head_node)
    yield Check("queue subnets", queue_subnet_problems(architecture, facts))
    yield Check("key pairs", key_problems(architecture, facts))
    yield Check("key pairs", replaced_key_problems(config, facts))
    yield Check("images", image_problems(architecture, facts))


def parallelcluster_plan_checks(
    plan: ParallelClusterPlan, facts: AccountFacts, *, stack_file: str
) -> Iterator[Check]:
    """Yield the checks of a plan, including updates that ParallelCluster refuses."""
    rooms = address_problems(
        addresses_by_subnet(plan),
        plan.network,
        facts,
        takers="interfaces",
        remedy="or fewer nodes",
    )
    yield Check("addresses", rooms)
    yield Check("mounted storage", mounted_storage_problems(plan, facts))
    if facts.deployed_cluster is not None:
        rendered = render_cluster(plan)
        changes = update_problems(
            facts.deployed_cluster,
            rendered,
            stack_file=stack_file,
            cluster_name=plan.name,
            fleet_stopped=facts.fleet_stopped,
        )
        yield Check("changes of the cluster", changes)
        surges = surge_problems(
            facts.deployed_cluster,
            rendered,
            _instances(facts),
            stack_file=stack_file,
            fleet_stopped=facts.fleet_stopped,
        )
        yield Check("room for both in reservations", surges)


def _instances(facts: AccountFacts) -> dict[str, int]:
    """Return the number of instances, by reservation and by reservation group."""
    alone = {name: found.instance_count for name, found in facts.reservations.items()}
    groups = {
        arn: sum(alone.get(member, 0) for member in members)
        for arn, members in facts.reservation_groups.items()
    }
    return alone | groups


def parallelcluster_warnings(
    config: ParallelClusterStackConfig, facts: AccountFacts
) -> Iterator[str]:
    """Yield warnings to show before any change."""
    yield from image_warnings(config.architecture, facts)
    for name in unseen_reservations(config, facts):
        yield (
            f"reservation {name} is not seen yet: the stack accepts its resource share first, and "
            "the next command checks it"
        )
