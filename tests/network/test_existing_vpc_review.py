"""Subnets of an existing VPC that are listed twice."""

import pytest

from tests.support.stack_files import PRIVATE_A, PUBLIC_A, VPC
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import Review
from trainyard.components.network.vpc_review import review_existing_vpc


@pytest.mark.parametrize(
    ("public", "private", "keys"),
    [
        ((PUBLIC_A,), (PRIVATE_A,), []),
        ((PUBLIC_A,), (PUBLIC_A,), ["network.private_subnet_ids"]),
        ((PUBLIC_A, PUBLIC_A), (PRIVATE_A,), ["network.public_subnet_ids"]),
        ((PUBLIC_A,), (PRIVATE_A, PRIVATE_A), ["network.private_subnet_ids"]),
    ],
)
def test_a_subnet_is_listed_once(
    public: tuple[str, ...], private: tuple[str, ...], keys: list[str]
):
    review = Review(stack_file="Pulumi.p5.yaml")
    network = ExistingVpc(
        kind="existing-vpc", vpc_id=VPC, public_subnet_ids=public, private_subnet_ids=private
    )
    review_existing_vpc(network, review)
    assert [each.path.partition(":cluster.")[2] for each in review.problems] == keys
