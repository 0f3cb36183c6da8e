"""Checks of network and storage that all architectures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.config.network import NewVpc, PlacedNetwork
from components.config.review import Review
from components.config.stack_models import is_batch
from components.network.existing_vpc_review import review_existing_vpc
from components.network.vpc_review import review_new_vpc

if TYPE_CHECKING:
    from components.config.batch_stack import BatchStackConfig
    from components.config.network_stack import NetworkStackConfig


def review_network(network: PlacedNetwork, region: str, review: Review) -> None:
    """Record problems of existing subnets, or of the addresses and zones of new ones."""
    if isinstance(network, NewVpc):
        review_new_vpc(network, region, review)
    else:
        review_existing_vpc(network, review)


def review_without_storage(config: BatchStackConfig | NetworkStackConfig, review: Review) -> None:
    """Refuse file systems in a stack that does not support them.

    ParallelCluster also refuses them with Batch (`AwsBatchFsxValidator`): each node would have to
    mount the file system before its ECS agent starts.
    """
    batch = is_batch(config)
    for name in config.storage:
        review.refuse(
            f"storage.{name}",
            "is a file system, and stacks of AWS Batch mount none"
            if batch
            else "is a file system, and a stack that is a network alone has nothing to mount it",
            found=config.storage[name].kind,
            allowed="no entry of `storage`",
            remedy=(
                "remove it, and let jobs read and write S3"
                if batch
                else "remove it here, and add it to the stack whose nodes mount it"
            ),
        )
