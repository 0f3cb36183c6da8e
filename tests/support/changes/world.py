"""The account for a changed stack file: with the resources of an `up` of the unchanged one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from tests.support.cluster_configs import id_of
from tests.support.stacks import account_facts
from trainyard.components.account.facts import AccountFacts
from trainyard.components.eks.facts import ClusterFacts
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.storage.facts import FileSystemFacts
from trainyard.components.storage.storage_plan import FsxLustrePlan

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


def after_up(plan: AnyPlan) -> AccountFacts:
    """Return the sandbox's account as the program would read it when this plan is deployed."""
    facts = account_facts()
    if isinstance(plan, EksPlan):
        made = {f"fs-{system.name}": _made(system) for system in plan.file_systems}
        systems = {**facts.file_systems, **made}
        return dataclasses.replace(facts, cluster=_cluster(plan), file_systems=systems)
    if isinstance(plan, ParallelClusterPlan):
        deployed = resolve(render_cluster(plan), id_of)
        return dataclasses.replace(facts, deployed_cluster=deployed)
    return facts


def _cluster(plan: EksPlan) -> ClusterFacts:
    managed = [group for group in plan.node_groups if group.management == "managed"]
    return ClusterFacts(
        name=plan.name,
        status="ACTIVE",
        kubernetes_version=plan.kubernetes_version,
        authentication_mode=plan.authentication_mode,
        secrets_key_arn=plan.secrets_key_arn,
        node_group_versions={group.name: plan.kubernetes_version for group in managed},
        node_group_sizes={group.name: group.schedule.desired for group in managed},
    )


def _made(system: FsxLustrePlan) -> FileSystemFacts:
    settings: Any = system.settings
    return FileSystemFacts(
        file_system_id=f"fs-{system.name}",
        type="LUSTRE",
        lifecycle="AVAILABLE",
        vpc_id="vpc-0123456789abcdef0",
        subnet_id=system.subnets[0] if system.subnets else "",
        availability_zone="us-west-2b",
        dns_name="fs",
        mount_name="abcdefgh",
        capacity_gib=system.capacity_gib or 0,
        settings={} if settings is None else _fixed_settings(settings),
        tags=system.tags,
        security_group_ids=frozenset(),
        lets_in=(),
    )


def _fixed_settings(settings: Any) -> dict[str, object]:
    cache = settings.drive_cache_type
    return {
        "deployment_type": settings.deployment_type,
        "storage_type": settings.storage_type,
        "drive_cache": None if cache == "NONE" else cache,
        "efa_enabled": settings.efa_enabled,
        "import_path": settings.import_path,
        "export_path": settings.export_path,
        "kms_key_arn": settings.kms_key_arn,
        "metadata_iops": settings.metadata_iops,
    }
