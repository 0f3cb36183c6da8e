"""Plan and account together: one message, and values that the account adds."""

from dataclasses import replace
from datetime import timedelta
from ipaddress import IPv4Network

import pytest

from tests.support.eks import PRIVATE, cluster_facts
from tests.support.eks_account import ENDS, NOW, STARTED
from trainyard.components.architectures.prepare import complete, prepare
from trainyard.components.config.problems import ConfigError

LATER = ENDS + timedelta(days=30)
TIMES = {
    "availability_zone": "us-west-2b",
    "starts_at": STARTED.isoformat(),
    "ends_at": ENDS.isoformat(),
}


def prepared(config, facts, now=NOW):
    return prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=now)


def test_the_times_of_a_block_come_from_the_account(configure, facts):
    block = complete(configure(), facts).reservations["block"]
    assert (block.starts_at, block.ends_at) == (STARTED, ENDS)


def test_a_time_in_the_stack_file_stays(configure, facts):
    config = configure(reservations__block__ends_at="2026-11-25T11:30:00Z")
    assert complete(config, facts).reservations["block"].ends_at.day == 25


def test_nodes_launch_in_the_subnet_of_the_reservations_zone(configure, facts):
    """EKS-13, PR-22: the zone that eksctl's manifests leave to the reader."""
    plan = prepared(configure(), facts).plan
    (p5,) = [g for g in plan.node_groups if g.name == "p5"]
    assert p5.subnets == (PRIVATE[1],)


def test_the_choice_does_not_depend_on_free_addresses(configure, facts, with_subnet):
    crowded = with_subnet(PRIVATE[1], free_addresses=1)
    assert complete(configure(), crowded) == complete(configure(), facts)


def test_a_subnet_too_small_for_the_interfaces_is_refused(configure, with_subnet):
    """Pain 15."""
    tiny = with_subnet(PRIVATE[1], cidr=IPv4Network("10.0.16.0/28"))
    with pytest.raises(ConfigError, match="addresses"):
        prepared(configure(), tiny)


def test_a_type_that_the_zone_does_not_offer_is_refused(configure, facts):
    """Rule E1."""
    elsewhere = replace(facts, offered_zone_ids={"p5.48xlarge": frozenset({"usw2-az1"})})
    with pytest.raises(ConfigError, match="does not offer"):
        prepared(configure(), elsewhere)


def test_a_key_pair_that_does_not_exist_is_refused(configure, facts):
    config = configure(architecture__node_groups__p5__ssh_key_name="lost")
    with pytest.raises(ConfigError, match="key pair does not exist"):
        prepared(config, facts)


def test_problems_of_plan_and_account_come_in_one_message(configure, facts):
    config = configure(
        architecture__node_groups__p5__instance_type="p5.48xlarg",
        architecture__node_groups__p5__ssh_key_name="lost",
    )
    with pytest.raises(ConfigError) as caught:
        prepared(config, replace(facts, vpc=None))
    message = str(caught.value)
    for part in ("vpc_id", "p5.48xlarge", "lost"):
        assert part in message


def test_what_could_not_be_read_is_a_warning(configure, facts):
    denied = replace(facts, unreadable=("ec2:DescribeKeyPairs: UnauthorizedOperation",))
    (warning,) = prepared(configure(), denied).warnings
    assert "DescribeKeyPairs" in warning


def test_a_block_that_is_over_is_refused_for_a_new_stack_only(configure, facts, block):
    expired = replace(facts, reservations={block.reservation_id: replace(block, state="expired")})
    with pytest.raises(ConfigError, match="expired") as caught:
        prepared(configure(), expired, LATER)
    assert len(caught.value.problems) == 1
    found = prepared(configure(), replace(expired, cluster=cluster_facts()), LATER)
    (told,) = [warning for warning in found.warnings if "reservations.block.ends_at" in warning]
    assert "buy another block" in told
    (p5,) = [g for g in found.plan.node_groups if g.name == "p5"]
    assert p5.subnets == (PRIVATE[1],)
    assert p5.schedule.state == "expired"


def test_a_block_that_ec2_has_forgotten_is_over_by_its_times_in_the_stack_file(configure, facts):
    forgotten = replace(facts, reservations={}, cluster=cluster_facts())
    with pytest.raises(ConfigError, match="does not exist") as caught:
        prepared(configure(), forgotten, LATER)
    (problem,) = caught.value.problems
    assert [key for key in TIMES if f"reservations.block.{key}" not in problem.remedy] == []
    kept = configure(**{f"reservations__block__{key}": value for key, value in TIMES.items()})
    found = prepared(kept, forgotten, LATER)
    assert [warning for warning in found.warnings if "reservations.block.ends_at" in warning]
    assert found.plan == prepared(kept, replace(facts, cluster=cluster_facts()), LATER).plan
