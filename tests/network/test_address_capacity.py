"""Whether new subnets have the addresses that a plan needs."""

from __future__ import annotations

from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.network.address_capacity import AddressNeed, needs_of, review_new_subnets
from trainyard.components.network.network_plan import existing_network, plan_network

SMALL = plan_network(
    NewVpc(
        kind="new-vpc",
        availability_zones=("us-west-2a",),
        cidr="10.0.0.0/24",
        public_subnet_cidrs=("10.0.0.0/28",),
        private_subnet_cidrs=("10.0.0.16/28",),
    ),
    region="us-west-2",
)
(PUBLIC,), (PRIVATE,) = SMALL.public_subnets, SMALL.private_subnets


def refused(network, needs, *before: str):
    review = Review(stack_file="Pulumi.dev.yaml")
    for key in before:
        review.refuse(key, "is wrong", remedy="correct it")
    review_new_subnets(needs, network, review, takers="interfaces", remedy="or fewer nodes")
    return review.problems[len(before) :]


def test_what_lies_in_one_subnet_is_added_up() -> None:
    needs = needs_of([("a", 2, "head"), ("b", 1, "queue"), ("a", 3, "storage")])
    assert needs == {"a": AddressNeed(5, ("head", "storage")), "b": AddressNeed(1, ("queue",))}


def test_a_subnet_with_room_is_fine() -> None:
    """AWS reserves five of the sixteen addresses."""
    assert list(refused(SMALL, {PRIVATE.name: AddressNeed(11, ("queue",))})) == []


def test_a_private_subnet_without_room_is_refused_with_who_needs_it() -> None:
    (problem,) = refused(SMALL, {PRIVATE.name: AddressNeed(12, ("queue", "storage fsx"))})
    assert "gives the private subnet in us-west-2a 11 addresses" in problem.problem
    assert "interfaces of queue, storage fsx need 12" in problem.problem
    assert "private_subnet_cidrs" in problem.remedy


def test_a_public_subnet_is_measured_too() -> None:
    (problem,) = refused(SMALL, {PUBLIC.name: AddressNeed(12, ("the head node",))})
    assert "public subnet" in problem.problem
    assert "public_subnet_cidrs" in problem.remedy


def test_nothing_is_measured_in_addresses_that_are_refused_already() -> None:
    assert list(refused(SMALL, {PRIVATE.name: AddressNeed(12, ("queue",))}, "network.cidr")) == []


def test_of_an_existing_network_only_the_account_knows() -> None:
    network = existing_network("vpc-1", public_subnet_ids=(), private_subnet_ids=("subnet-1",))
    assert list(refused(network, {"subnet-1": AddressNeed(5000, ("queue",))})) == []
