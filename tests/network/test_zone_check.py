"""A new VPC against the zones of the account: names and ids, offerings, capacity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.account import configured
from tests.support.eks_account import NOW
from tests.support.parallelcluster import raw_p4de
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.prepare import complete, prepare
from trainyard.components.architectures.registry import account_of
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.checks import zone_problems
from trainyard.components.network.facts import ZoneFacts

ZONES = (
    ZoneFacts(name="us-west-2a", zone_id="usw2-az1", kind="availability-zone"),
    ZoneFacts(name="us-west-2b", zone_id="usw2-az2", kind="availability-zone"),
    ZoneFacts(name="us-west-2c", zone_id="use1-az3", kind="availability-zone"),
    ZoneFacts(name="us-west-2-lax-1a", zone_id="usw2-lax1-az1", kind="local-zone"),
)
"""One of them represents a zone without EKS."""


@pytest.fixture
def facts(facts: AccountFacts) -> AccountFacts:
    return replace(
        facts,
        vpc=None,
        subnets={},
        zones=ZONES,
        offered_zone_ids={
            "p5.48xlarge": frozenset({"usw2-az2"}),
            "c5.2xlarge": frozenset({"usw2-az1", "usw2-az2"}),
        },
    )


@pytest.fixture
def in_zones(configure: Callable[..., StackConfig]) -> Callable[..., StackConfig]:
    """Return a stack with a new VPC in these zones."""

    def stack(*zones: str, **changes: Any) -> StackConfig:
        network = {"kind": "new-vpc", "availability_zones": list(zones)}
        return configure(network=network, **changes)

    return stack


def prepared(config, facts):
    return prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=NOW)


def problems(config, facts):
    needs = account_of(config).needs
    found = zone_problems(complete(config, facts), facts, needs)
    return {problem.path.removeprefix("trainyard:cluster."): problem for problem in found}


@pytest.mark.parametrize(
    ("zones", "subnet"),
    [
        pytest.param(("us-west-2a", "us-west-2b"), "private-us-west-2b", id="names"),
        pytest.param(("usw2-az2", "usw2-az1"), "private-usw2-az2", id="ids"),
        pytest.param(("us-west-2a", "usw2-az2"), "private-usw2-az2", id="both"),
    ],
)
def test_the_reservations_zone_is_found_however_it_is_written(in_zones, facts, zones, subnet):
    """EKS-04, EKS-13: the account provides the zone of the block, and the ids of zone names."""
    config = in_zones(*zones, reservations__block__availability_zone=None)
    plan = prepared(config, facts).plan
    assert plan.node_groups[1].subnets == (subnet,)
    assert problems(config, facts) == {}


def test_a_zone_of_the_group_is_found_too(in_zones, facts):
    group = {"purchase_option": "on-demand", "availability_zone": "us-west-2b"}
    changes = {f"architecture__node_groups__p5__{key}": value for key, value in group.items()}
    config = in_zones("usw2-az1", "usw2-az2", reservations={}, **changes)
    assert prepared(config, facts).plan.node_groups[1].subnets == ("private-usw2-az2",)


def test_a_zone_without_subnet_is_refused_with_the_command_that_adds_it(in_zones, facts):
    elsewhere = {"p5.48xlarge": frozenset({"usw2-az2"}), "c5.2xlarge": frozenset({"usw2-az1"})}
    zones = (*ZONES, ZoneFacts(name="us-west-2d", zone_id="usw2-az4", kind="availability-zone"))
    facts = replace(facts, zones=zones, offered_zone_ids=elsewhere)
    with pytest.raises(ConfigError) as caught:
        prepared(in_zones("usw2-az1", "usw2-az4"), facts)
    assert "availability_zones[2]' us-west-2b" in str(caught.value)


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        pytest.param("us-west-2f", "no such zone", id="name"),
        pytest.param("usw2-az9", "no such zone", id="id"),
        pytest.param("us-west-2-lax-1a", "not a Local Zone", id="local-zone"),
        pytest.param("us-west-2c", "does not support control planes", id="without-eks"),
        pytest.param("usw2-az2", "listed twice", id="twice"),
    ],
)
def test_a_zone_that_cannot_be_used_is_refused_with_those_that_can(in_zones, facts, zone, words):
    problem = problems(in_zones("us-west-2b", zone), facts)["network.availability_zones[1]"]
    assert words in problem.problem
    if problem.allowed:
        assert problem.allowed == "us-west-2a (usw2-az1), us-west-2b (usw2-az2)"


def test_a_zone_that_does_not_offer_the_type_is_refused(in_zones, facts):
    """Rule E1."""
    facts = replace(facts, offered_zone_ids={"p5.48xlarge": frozenset({"usw2-az1"})})
    problem = problems(in_zones("us-west-2a", "us-west-2b"), facts)[
        "architecture.node_groups.p5.instance_type"
    ]
    assert problem.found == "p5.48xlarge in us-west-2b"
    assert problem.allowed == "zones that do: us-west-2a"


def test_the_system_nodes_need_their_type_in_every_zone(in_zones, facts):
    facts = replace(facts, offered_zone_ids={"c5.2xlarge": frozenset({"usw2-az2"})})
    found = problems(in_zones("us-west-2a", "us-west-2b"), facts)
    assert "architecture.system_node_group.instance_type" in found


def test_efa_without_a_zone_is_told_which_zones_offer_the_type(in_zones, facts):
    config = in_zones(
        "us-west-2a",
        "us-west-2b",
        reservations={},
        architecture__node_groups__p5__purchase_option="on-demand",
    )
    with pytest.raises(ConfigError) as caught:
        prepared(config, facts)
    allowed = {problem.path: problem.allowed for problem in caught.value.problems}
    path = "trainyard:cluster.architecture.node_groups.p5.availability_zone"
    assert allowed == {path: "one zone: us-west-2b"}


def test_a_zone_that_is_not_the_reservations_is_refused(in_zones, facts):
    config = in_zones(
        "us-west-2a",
        "us-west-2b",
        reservations__block__availability_zone=None,
        architecture__node_groups__p5__availability_zone="us-west-2a",
    )
    with pytest.raises(ConfigError) as caught:
        prepared(config, facts)
    allowed = {problem.path: problem.allowed for problem in caught.value.problems}
    path = "trainyard:cluster.architecture.node_groups.p5.availability_zone"
    assert allowed[path] == "us-west-2b (usw2-az2)"


def test_where_zones_may_not_be_read_nothing_is_claimed(in_zones, facts):
    denied = replace(
        facts, zones=(), unreadable=("ec2:DescribeAvailabilityZones: UnauthorizedOperation",)
    )
    ready = prepared(in_zones("usw2-az1", "usw2-az2"), denied)
    assert len(ready.plan.node_groups[1].subnets) == 2
    assert any("DescribeAvailabilityZones" in warning for warning in ready.warnings)


def test_the_head_node_needs_its_type_in_the_first_zone_only(facts):
    """ParallelCluster launches the head node into one subnet."""
    network = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
    config = configured(raw_p4de(network=network))
    head = config.architecture.head_node.instance_type
    key = "architecture.head_node.instance_type"
    for zone_id, accepted in (("usw2-az1", True), ("usw2-az2", False)):
        account = replace(facts, offered_zone_ids={head: frozenset({zone_id})})
        found = zone_problems(config, account, account_of(config).needs)
        paths = [each.path.removeprefix("trainyard:cluster.") for each in found]
        assert (key not in paths) == accepted
