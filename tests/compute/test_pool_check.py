"""Node pools whose zone has no subnet in the adopted network."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from tests.batch import test_account as batch
from tests.support import account as slurm
from tests.support.eks import PRIVATE, changed, config
from tests.support.eks_account import NOW
from tests.support.parallelcluster import RAW_P4DE
from tests.support.stack_files import RESERVATION, raw_config
from trainyard.components.architectures.prepare import prepare
from trainyard.components.compute.checks import offering_problems
from trainyard.components.config.problems import ROOT, ConfigError
from trainyard.components.network.address_capacity import AddressNeed
from trainyard.components.network.checks import address_problems
from trainyard.components.network.network_plan import plan_network

POOL = "architecture__compute_environments__p4d"
QUEUE = "architecture__queues__compute-gpu"
OPEN = {f"{POOL}__purchase_option": "on-demand", "reservations": ...}
NETWORK = "network.private_subnet_ids"


def test_a_zone_without_a_private_subnet_is_said_once_and_where_it_can_be_mended():
    """No `subnet_id` would help: the network has no subnet in the zone."""
    raw = batch.p4d(**OPEN, **{f"{POOL}__availability_zone": "us-west-2d"})
    found = batch.problems(raw, batch.fitting(reservations={}))
    assert list(found) == [NETWORK]
    assert "p4d must launch in us-west-2d" in found[NETWORK].problem
    assert found[NETWORK].found == "private subnets in us-west-2a (usw2-az2), us-west-2b (usw2-az1)"


def test_the_zone_of_a_reservation_is_said_with_its_id_and_once():
    held = slurm.odcr(
        instance_type="p4d.24xlarge", instance_count=2, availability_zone="us-west-2d"
    )
    raw = batch.p4d(reservations__p4d={"kind": "odcr", "reservation_id": RESERVATION})
    found = batch.problems(raw, batch.fitting(reservations={RESERVATION: held}))
    assert list(found) == [NETWORK]
    assert RESERVATION in found[NETWORK].problem


def test_a_zone_that_only_the_stack_file_says_of_its_reservation_is_looked_at_too():
    """PR-05: a shared reservation is not visible before its share is accepted."""
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"
    shared = {
        "kind": "odcr",
        "reservation_id": RESERVATION,
        "provenance": "aws-assisted",
        "resource_share_arn": share,
        "availability_zone": "us-west-2d",
        "instance_count": 2,
    }
    found = batch.problems(batch.p4d(reservations__p4d=shared), batch.fitting(reservations={}))
    assert list(found) == [NETWORK]


def test_the_zone_of_a_queue_is_said_once():
    raw = raw_config(
        RAW_P4DE,
        storage=...,
        reservations=...,
        **{f"{QUEUE}__purchase_option": "on-demand", f"{QUEUE}__availability_zone": "us-west-2d"},
    )
    with pytest.raises(ConfigError) as refused:
        slurm.prepared(raw, slurm.account(reservations={}))
    paths = [problem.path.removeprefix(f"{ROOT}.") for problem in refused.value.problems]
    assert paths == [NETWORK]


@pytest.mark.parametrize("in_file", ["us-west-2b", None])
def test_a_zone_that_is_not_the_reservations_is_refused_and_not_overwritten(in_file):
    """EKS-13: the zone of the stack file is used or refused, never ignored."""
    raw = batch.p4d(
        reservations__p4d__availability_zone=in_file, **{f"{POOL}__availability_zone": "us-west-2a"}
    )
    found = batch.problems(raw, batch.fitting())
    path = f"{batch.ENVIRONMENT}.availability_zone"
    assert list(found) == [path]
    assert found[path].found == "us-west-2a"
    assert found[path].problem == "the reservation `p4d` is in us-west-2b"
    assert "remove `availability_zone`" in found[path].remedy


def test_the_zone_of_a_node_group_that_is_not_its_reservations_is_said_beside_other_problems(
    configure, facts
):
    config = configure(
        architecture__node_groups__p5__availability_zone="usw2-az1",
        architecture__node_groups__p5__ssh_key_name="nobody",
    )
    with pytest.raises(ConfigError) as refused:
        prepare(config, facts, stack_file="Pulumi.p5-cb.yaml", region="us-west-2", now=NOW)
    group = f"{ROOT}.architecture.node_groups.p5"
    paths = {problem.path for problem in refused.value.problems}
    assert paths == {f"{group}.availability_zone", f"{group}.ssh_key_name"}


@pytest.mark.parametrize("same", ["us-west-2b", "usw2-az1"])
def test_the_zone_of_the_reservation_may_be_said_by_name_and_by_id(same):
    raw = batch.p4d(**{f"{POOL}__availability_zone": same})
    assert batch.problems(raw, batch.fitting()) == {}


def test_the_zone_of_a_queue_that_is_not_its_reservations_is_refused():
    raw = raw_config(RAW_P4DE, **{f"{QUEUE}__availability_zone": "us-west-2a"})
    with pytest.raises(ConfigError) as refused:
        slurm.prepared(raw, slurm.account())
    assert f"{ROOT}.{QUEUE.replace('__', '.')}.availability_zone" in {
        problem.path for problem in refused.value.problems
    }


def test_subnets_that_nobody_could_look_at_are_left_to_the_plan():
    raw = batch.p4d(**OPEN, **{f"{POOL}__availability_zone": "us-west-2d"})
    facts = batch.fitting(
        reservations={}, subnets={}, unreadable=("ec2:DescribeSubnets: AccessDenied",)
    )
    found = batch.problems(raw, facts)
    assert (
        "could not be read from the account"
        in found[f"{POOL.replace('__', '.')}.subnet_id"].problem
    )


@pytest.mark.parametrize(("size", "accepted"), [(11, True), (12, False)])
def test_a_subnet_of_16_addresses_has_11_for_nodes(facts, size, accepted):
    """AWS reserves five addresses of each subnet.

    https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
    """
    small = replace(facts.subnets[PRIVATE[0]], cidr=IPv4Network("10.0.0.0/28"))
    account = replace(facts, subnets={PRIVATE[0]: small})
    network = plan_network(config(changed()).network, region="us-west-2")
    need = {PRIVATE[0]: AddressNeed(size, ("p5",))}
    found = [*address_problems(need, network, account, takers="interfaces", remedy="or not")]
    assert (found == []) == accepted


@pytest.mark.parametrize(
    ("offered", "accepted"),
    [({"usw2-az1"}, True), ({"usw2-az1", "usw2-az2"}, True), ({"usw2-az2"}, False), (set(), False)],
)
def test_a_subnet_is_in_a_zone_that_offers_the_type(facts, offered, accepted):
    account = replace(facts, offered_zone_ids={"p5.48xlarge": frozenset(offered)})
    found = [*offering_problems("key", "p5.48xlarge", PRIVATE[0], account)]
    assert (found == []) == accepted
