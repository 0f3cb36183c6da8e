"""Problems of a VPC and subnets that do not fit."""

from dataclasses import replace

import pytest

from tests.support.eks import PRIVATE, PUBLIC
from trainyard.components.eks.account import EksAccount, control_plane_problems
from trainyard.components.network import checks


def network_problems(network, facts):
    """Problems of the network of an EKS stack."""
    yield from checks.network_problems(network, facts, EksAccount.needs.nodes)
    yield from control_plane_problems(network, facts)


def only(problems):
    (problem,) = problems
    return problem


def test_a_network_that_fits_has_no_problem(configure, facts):
    assert list(network_problems(configure().network, facts)) == []


def test_a_vpc_that_does_not_exist_is_named(configure, facts):
    problem = only(network_problems(configure().network, replace(facts, vpc=None)))
    assert problem.path == "trainyard:cluster.network.vpc_id"
    assert "does not exist" in problem.problem


@pytest.mark.parametrize("attribute", ["dns_support", "dns_hostnames"])
def test_a_vpc_without_dns_gets_the_command_that_turns_it_on(configure, facts, attribute):
    """Rule E2: EKS needs both.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """
    vpc = replace(facts.vpc, **{attribute: False})
    problem = only(network_problems(configure().network, replace(facts, vpc=vpc)))
    assert "modify-vpc-attribute" in problem.remedy
    assert f"--enable-{attribute.replace('_', '-')}" in problem.remedy


def test_a_missing_subnet_is_named_by_its_place_in_the_stack_file(configure, facts):
    left = {i: s for i, s in facts.subnets.items() if i != PRIVATE[1]}
    problem = only(network_problems(configure().network, replace(facts, subnets=left)))
    assert problem.path == "trainyard:cluster.network.private_subnet_ids[1]"


def test_a_public_subnet_given_as_private_is_refused(configure, with_subnet):
    """PR-11, PR-41: public is recognised by the route to the internet gateway."""
    account = with_subnet(PRIVATE[0], default_route="internet-gateway")
    problem = only(network_problems(configure().network, account))
    assert "public subnet" in problem.problem
    assert problem.path.endswith("private_subnet_ids[0]")


def test_a_private_subnet_given_as_public_is_refused(configure, with_subnet):
    problem = only(
        network_problems(configure().network, with_subnet(PUBLIC[0], default_route="nat"))
    )
    assert problem.path.endswith("public_subnet_ids[0]")


def test_a_private_subnet_without_a_way_out_is_refused(configure, with_subnet):
    problem = only(
        network_problems(configure().network, with_subnet(PRIVATE[0], default_route="none"))
    )
    assert "cannot pull images" in problem.problem


# https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
ENDPOINTS = frozenset({"ec2", "ecr.dkr", "ecr.api", "s3", "sts"})


def test_endpoints_for_images_make_up_for_a_missing_way_out(configure, with_subnet):
    account = with_subnet(PRIVATE[0], default_route="none")
    vpc = replace(account.vpc, endpoint_services=ENDPOINTS)
    assert list(network_problems(configure().network, replace(account, vpc=vpc))) == []


@pytest.mark.parametrize("missing", sorted(ENDPOINTS))
def test_a_missing_way_out_needs_every_endpoint(configure, with_subnet, missing):
    account = with_subnet(PRIVATE[0], default_route="none")
    vpc = replace(account.vpc, endpoint_services=ENDPOINTS - {missing})
    problem = only(network_problems(configure().network, replace(account, vpc=vpc)))
    assert "cannot pull images" in problem.problem


def test_endpoints_that_may_not_be_listed_are_not_taken_for_missing(configure, with_subnet):
    account = with_subnet(PRIVATE[0], default_route="none")
    denied = replace(account, unreadable=("ec2:DescribeVpcEndpoints: UnauthorizedOperation",))
    assert list(network_problems(configure().network, denied)) == []


def test_a_subnet_of_another_vpc_is_refused(configure, with_subnet):
    account = with_subnet(PUBLIC[1], vpc_id="vpc-0fffffffffffffff0")
    assert "another VPC" in only(network_problems(configure().network, account)).problem


def test_control_plane_subnets_in_one_zone_are_refused(configure, facts):
    subnets = {i: replace(s, availability_zone="us-west-2b") for i, s in facts.subnets.items()}
    problem = only(network_problems(configure().network, replace(facts, subnets=subnets)))
    assert "at least two zones" in problem.problem


def test_a_zone_that_eks_does_not_serve_is_refused(configure, with_subnet):
    account = with_subnet(PUBLIC[0], availability_zone="us-east-1e", zone_id="use1-az3")
    assert "serves no control plane" in only(network_problems(configure().network, account)).problem


def test_what_may_not_be_read_is_not_a_problem(configure, facts):
    denied = replace(
        facts,
        vpc=None,
        subnets={},
        unreadable=("ec2:DescribeVpcs: AccessDenied", "ec2:DescribeSubnets: AccessDenied"),
    )
    assert list(network_problems(configure().network, denied)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "unavailable"}, "state unavailable"),
        ({"outpost_arn": "arn:aws:outposts:us-west-2:123456789012:outpost/op-0"}, "op-0"),
        ({"gateway_block": "block-bidirectional"}, "block-bidirectional"),
    ],
)
def test_a_subnet_in_which_nothing_can_run_is_refused(configure, with_subnet, changes, said):
    problem = only(network_problems(configure().network, with_subnet(PRIVATE[0], **changes)))
    assert said in str(problem.found)
    assert problem.path.endswith("private_subnet_ids[0]")


def test_a_subnet_whose_nodes_reach_the_internet_is_accepted(configure, with_subnet):
    """`block-ingress` lets NAT gateways through."""
    facts = with_subnet(PRIVATE[0], gateway_block="block-ingress")
    assert not [*network_problems(configure().network, facts)]


def test_a_reservation_of_another_tenancy_than_the_vpc_is_refused(configure, facts, block):
    held = replace(facts, reservations={block.reservation_id: block})
    dedicated = replace(held, vpc=replace(facts.vpc, tenancy="dedicated"))
    config = configure()
    assert not [*checks.tenancy_problems(config, held), *checks.tenancy_warnings(config, held)]
    problem = only(checks.tenancy_problems(config, dedicated))
    assert "tenancy default" in str(problem.found)
    assert "modify-vpc-tenancy" in only(checks.tenancy_warnings(config, dedicated))
    both = replace(block, tenancy="dedicated")
    assert not [
        *checks.tenancy_problems(
            config, replace(dedicated, reservations={both.reservation_id: both})
        )
    ]
