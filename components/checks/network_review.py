"""Checks of network and storage that all architectures share."""

from __future__ import annotations

from trainyard.components.config.network import NewVpc, PlacedNetwork
from trainyard.components.config.problems import Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.vpc_review import review_existing_vpc, review_new_vpc


def review_network(network: PlacedNetwork, region: str, review: Review) -> None:
    """Record problems of existing subnets, or of the addresses and zones of new ones."""
    if isinstance(network, NewVpc):
        review_new_vpc(network, region, review)
    else:
        review_existing_vpc(network, review)


def review_without_storage(
    config: StackConfig, review: Review, *, problem: str, remedy: str
) -> None:
    """Refuse file systems in a stack that does not support them, for the given reason."""
    for name in config.storage:
        review.refuse(
            f"storage.{name}",
            problem,
            found=config.storage[name].kind,
            allowed="no entry of `storage`",
            remedy=remedy,
            rules=("F9",),
        )
