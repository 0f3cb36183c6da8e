"""Offline checks of the subnets of an existing VPC."""

from __future__ import annotations

from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.review import Review


def review_existing_vpc(network: ExistingVpc, review: Review) -> None:
    """Refuse subnets that are listed twice; all other checks need the account."""
    both = [s for s in network.private_subnet_ids if s in network.public_subnet_ids]
    if both:
        review.refuse(
            "network.private_subnet_ids",
            "has subnets that are also listed as public; a subnet has only one default route",
            found=", ".join(both),
            remedy="remove each from one of the two lists",
            rules=("E3",),
        )
    for name in ("public_subnet_ids", "private_subnet_ids"):
        ids: tuple[str, ...] = getattr(network, name)
        repeated = sorted({s for s in ids if ids.count(s) > 1})
        if repeated:
            review.refuse(
                f"network.{name}",
                "lists a subnet twice",
                found=", ".join(repeated),
                remedy="remove the second one",
                rules=("E3",),
            )
