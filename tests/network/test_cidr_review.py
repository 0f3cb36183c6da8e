"""CIDR blocks of a VPC that EC2 accepts, alone and in combination."""

from __future__ import annotations

import pytest

from trainyard.components.config.problems import Review
from trainyard.components.network.vpc_review import review_ranges


def reviewed(*cidrs: str) -> Review:
    review = Review(stack_file="Pulumi.vpc.yaml")
    keys = ["network.cidr", *(f"network.secondary_cidrs[{index}]" for index in range(len(cidrs)))]
    review_ranges(list(zip(keys, cidrs, strict=False)), review)
    return review


@pytest.mark.parametrize(
    "cidr",
    ["10.0.0.0/16", "172.31.0.0/16", "192.168.0.0/28", "100.64.0.0/16", "1.0.0.0/16",
     "126.255.0.0/16", "128.0.0.0/16", "169.253.0.0/16", "169.255.0.0/16", "223.255.0.0/16"],
)  # fmt: skip
def test_a_network_of_instances_is_accepted(cidr: str) -> None:
    assert reviewed(cidr).problems == []


@pytest.mark.parametrize(
    "cidr",
    ["0.0.0.0/16", "0.255.255.240/28", "127.0.0.0/16", "127.255.0.0/16", "169.254.0.0/28",
     "224.0.0.0/16", "239.255.0.0/16", "255.255.0.0/16"],
)  # fmt: skip
def test_a_network_of_which_no_instance_has_an_address_is_refused(cidr: str) -> None:
    (problem,) = reviewed(cidr).problems
    assert problem.path == "trainyard:cluster.network.cidr"
    assert "no instance can have an address" in problem.problem


@pytest.mark.parametrize(
    ("primary", "secondary"),
    [
        ("10.0.0.0/16", "10.1.0.0/16"),
        ("10.2.0.0/16", "10.0.0.0/16"),
        ("10.0.0.0/16", "100.64.0.0/16"),
        ("172.16.0.0/16", "172.30.0.0/16"),
        ("192.168.0.0/24", "192.168.1.0/24"),
        ("192.168.0.0/16", "100.127.0.0/16"),
        ("100.64.0.0/16", "100.65.0.0/16"),
        ("198.19.0.0/24", "100.64.0.0/16"),
    ],
)
def test_a_network_of_the_same_range_is_added(primary: str, secondary: str) -> None:
    assert reviewed(primary, secondary).problems == []


@pytest.mark.parametrize(
    ("primary", "secondary"),
    [
        ("10.0.0.0/16", "172.16.0.0/16"),
        ("10.0.0.0/16", "198.19.0.0/16"),
        ("10.0.0.0/24", "10.0.1.0/24"),
        ("10.1.0.0/16", "10.0.0.0/16"),
        ("172.16.0.0/16", "172.31.0.0/16"),
        ("172.16.0.0/16", "192.168.0.0/16"),
        ("192.168.0.0/16", "10.0.0.0/16"),
        ("100.64.0.0/16", "10.0.0.0/16"),
        ("198.19.0.0/16", "172.16.0.0/16"),
    ],
)
def test_a_network_that_ec2_does_not_add_is_refused(primary: str, secondary: str) -> None:
    (problem,) = reviewed(primary, secondary).problems
    assert problem.path == "trainyard:cluster.network.secondary_cidrs[0]"
    assert primary in problem.problem


@pytest.mark.parametrize(("cidr", "noted"), [("172.17.0.0/16", 1), ("172.18.0.0/16", 0)])
def test_the_network_of_docker_is_noted(cidr: str, noted: int) -> None:
    review = reviewed(cidr)
    assert (len(review.notes), review.problems) == (noted, [])
