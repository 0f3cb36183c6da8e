"""File systems of an EKS stack, placed in the subnets of its node groups."""

from __future__ import annotations

from collections.abc import Sequence

from components.config.eks_stack import EksStackConfig
from components.config.review import Review
from components.eks.node_group_plan import NodeGroupPlan
from components.network.network_plan import NetworkPlan
from components.storage.fsx_lustre_plan import FsxLustrePlan
from components.storage.storage_plan import Neighbour, StoragePlace, plan_storage
from components.tagging import common_tags


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
