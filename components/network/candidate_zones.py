"""Candidate zones for node pools that need one zone."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.config.base import is_zone_id
from trainyard.components.config.network import ExistingVpc, PlacedNetwork
from trainyard.components.config.review import Review


def candidate_zones(
    instance_type: InstanceType,
    network: PlacedNetwork,
    offered_zones: Mapping[str, tuple[str, ...]],
    *,
    subnet_key: str = "subnet_id",
) -> str:
    """Return, for messages, the zones that nodes of a single-zone pool could launch in.

    `offered_zones` are the zones of a new VPC that offer a type, if the account was queried. The
    catalog has only zone ids, not zone names, and can be outdated.
    """
    if isinstance(network, ExistingVpc):
        return f"one zone, or one of `network.private_subnet_ids` as `{subnet_key}`"
    zones = offered_zones.get(instance_type.name)
    if zones is None:
        listed = network.availability_zones
        zones = tuple(z for z in listed if not is_zone_id(z) or z in instance_type.zone_ids)
    return f"one zone: {', '.join(zones) or 'none of the VPC offers ' + instance_type.name}"


def refuse_missing_zone(key: str, allowed: str | None, review: Review) -> None:
    """Refuse a pool with EFA whose zone is not set.

    `key` is the pool's key in the stack file, `allowed` the result of `candidate_zones`.
    """
    review.refuse(
        f"{key}.availability_zone",
        (
            "is missing: EFA traffic cannot leave a zone, so all nodes must launch in the same "
            "zone, but the stack file sets none"
        ),
        allowed=allowed,
        remedy=review.set_command(f"{key}.availability_zone", "ZONE"),
        rules=("A6", "E12", "G2"),
    )
