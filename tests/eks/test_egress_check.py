"""Images that nodes of an EKS stack cannot pull without internet access."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.eks import PRIVATE
from tests.support.eks_account import NOW
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.problems import ROOT, ConfigError

ENDPOINTS = frozenset({"ec2", "ecr.api", "ecr.dkr", "s3", "sts"})


@pytest.fixture
def closed(facts, with_subnet):
    """Return the account with private subnets that have only endpoints."""

    def close(*subnets):
        found = facts
        for subnet in subnets:
            found = replace(
                found, subnets={**found.subnets, subnet: _without_route(found.subnets[subnet])}
            )
        return replace(found, vpc=replace(found.vpc, endpoint_services=ENDPOINTS))

    return close


def _without_route(subnet):
    return replace(subnet, default_route="none")


def problems(config, facts):
    try:
        prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=NOW)
    except ConfigError as error:
        return error.problems
    return ()


def test_plugins_from_public_registries_are_refused_without_a_way_out(configure, closed):
    """VPCM-04: nodes in a VPC without public subnets can pull only from ECR."""
    (problem,) = problems(configure(), closed(PRIVATE[1]))
    assert problem.path == f"{ROOT}.network.private_subnet_ids"
    assert "the nvidia device plugin" in problem.problem
    assert "the node termination handler" in problem.problem
    assert PRIVATE[1] in str(problem.found)
    assert "NAT gateway" in problem.remedy


def test_subnets_that_no_such_node_uses_may_be_closed(configure, closed):
    """The system nodes pull from the registries of EKS."""
    assert problems(configure(), closed(PRIVATE[0])) == ()


def test_routes_that_may_not_be_read_are_not_taken_for_missing(configure, closed):
    hidden = replace(
        closed(PRIVATE[1]), unreadable=("ec2:DescribeRouteTables: UnauthorizedOperation",)
    )
    assert problems(configure(), hidden) == ()
