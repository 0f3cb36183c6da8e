"""The network of another stack: its problems name the stack in which they can be fixed."""

from __future__ import annotations

import pytest

from tests.support.eks import PRIVATE, PUBLIC, changed
from tests.support.eks_account import NOW
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.components.network.checks import at_reference

VPC = changed()["network"]["vpc_id"]


def prepared(facts, *, public=PUBLIC, private=PRIVATE):
    """Return the problems if the network of `vpc-multi-az` has these subnets."""

    def network_of(_: StackNetwork) -> ExistingVpc:
        return ExistingVpc(
            kind="existing-vpc",
            vpc_id=VPC,
            public_subnet_ids=tuple(public),
            private_subnet_ids=tuple(private),
        )

    raw = changed(network={"kind": "stack-reference", "stack": "vpc-multi-az"})
    config = load_stack_config(raw, stack_file="Pulumi.p5-cb.yaml", network_of=network_of)
    try:
        prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=NOW)
    except ConfigError as error:
        return error.problems
    return ()


def test_a_network_that_fits_is_taken(facts):
    """PR-50."""
    assert prepared(facts) == ()


def test_a_network_without_public_subnets_is_one(facts):
    """VPCM-04: a control plane also accepts private subnets."""
    assert prepared(facts, public=()) == ()


@pytest.mark.parametrize("default_route", ["internet-gateway", "none"])
def test_what_is_wrong_with_its_subnets_stands_at_the_reference(with_subnet, default_route):
    """The ids are not in the stack file: no command could change them there."""
    problems = prepared(with_subnet(PRIVATE[0], default_route=default_route))
    assert {problem.path for problem in problems} == {f"{ROOT}.network.stack"}
    for problem in problems:
        assert str(problem.found).startswith("vpc-multi-az, with ")
        assert "vpc-multi-az" in problem.remedy
        assert "network." not in problem.remedy


def test_a_network_in_one_zone_is_too_little_for_a_control_plane(facts):
    (problem,) = prepared(facts, public=PUBLIC[1:], private=PRIVATE[1:])
    assert problem.path == f"{ROOT}.network.stack"
    assert "at least two zones" in problem.problem


@pytest.mark.parametrize(
    ("path", "stack"),
    [
        (f"{ROOT}.network.vpc_id", None),
        (f"{ROOT}.network_policy", "vpc-multi-az"),
        (f"{ROOT}.reservations.p5", "vpc-multi-az"),
    ],
)
def test_other_problems_stay_as_they_are(path, stack):
    problem = Problem(path=path, problem="is wrong", remedy="change it")
    assert at_reference(problem, stack) is problem
