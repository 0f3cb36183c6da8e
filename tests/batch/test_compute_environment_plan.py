"""From a compute environment of the stack file to launch template, capacity and image."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.batch import P4D, P5, RAW, TRN1, environment
from tests.support.stack_files import (
    AMI,
    PRIVATE_A,
    PRIVATE_B,
    RESERVATION,
    notes,
    plan_from,
    raw_config,
)

BEFORE = datetime(2026, 10, 1, tzinfo=UTC)
AT_THE_END = datetime(2027, 1, 1, 11, tzinfo=UTC)
STARTS, ENDS = (datetime(*day, 11, 30, tzinfo=UTC) for day in ((2026, 11, 1), (2027, 1, 1)))
CLOSES = ENDS - timedelta(minutes=40)
NODES = "architecture__compute_environments__"


def p4d(**changes: Any) -> dict[str, Any]:
    return raw_config(P4D, **changes)


def unknown(**times: str) -> dict[str, Any]:
    block = {"kind": "capacity-block", "reservation_id": RESERVATION, **times}
    return raw_config(P5, reservations__block=block)


@pytest.mark.parametrize(("raw", "devices"), [(P4D, 4), (P5, 32), (TRN1, 8)])
def test_every_efa_interface_of_the_type_is_used(raw: dict[str, Any], devices: int):
    """BAT-08, BAT5-03, and the launch template of Neuron's samples."""
    interfaces = environment(raw).interfaces
    assert interfaces is not None
    assert interfaces.efa_interfaces == devices
    assert interfaces.addresses_per_node == 1


@pytest.mark.parametrize("raw", [P4D, P5, TRN1])
@pytest.mark.parametrize("layout", ["efa-only", "efa"])
def test_card_zero_has_room_for_the_interface_of_a_multi_node_job(raw: dict[str, Any], layout: str):
    name = next(iter(raw["architecture"]["compute_environments"]))
    plan = environment(raw_config(raw, **{f"{NODES}{name}__interface_layout": layout}))
    assert plan.interfaces is not None
    taken = sum(i.network_card_index == 0 for i in plan.interfaces.interfaces)
    assert taken < plan.instance_type.network_cards[0].maximum_interfaces


def test_without_efa_the_template_names_no_interfaces():
    assert environment(RAW).interfaces is None


@pytest.mark.parametrize(
    ("reservation", "kind", "market"),
    [
        ({"kind": "odcr", "reservation_id": RESERVATION}, "odcr", None),
        ({"kind": "odcr-group", "members": [RESERVATION]}, "odcr-group", None),
        (
            {"kind": "capacity-block", "reservation_id": RESERVATION},
            "capacity-block",
            "capacity-block",
        ),
    ],
)
def test_nodes_launch_into_the_reservation_and_nowhere_else(
    reservation: dict[str, Any], kind: str, market: str | None
):
    """BAT-03, BAT-04, BAT-07, BAT5-02."""
    raw = p4d(reservations__p4d={**reservation, "availability_zone": "us-west-2b"})
    capacity = environment(raw).capacity
    assert (capacity.kind, capacity.market_type) == (kind, market)
    assert capacity.preference == "capacity-reservations-only"
    assert capacity.availability_zone == "us-west-2b"


@pytest.mark.parametrize(
    ("changes", "group"),
    [
        ({}, "none"),
        ({"reservations__p4d__placement_group": "training-group"}, "existing"),
        ({"reservations__p4d__provenance": "aws-assisted"}, "none"),
        (
            {
                "reservations": {},
                f"{NODES}p4d__purchase_option": "on-demand",
                f"{NODES}p4d__availability_zone": "us-west-2b",
            },
            "create",
        ),
        ({f"{NODES}p4d__placement": {"group": "create"}}, "create"),
    ],
)
def test_the_shared_decision_places_the_nodes(changes: dict[str, Any], group: str):
    """BAT-10, BAT-16, BAT5-04, DF-10: the template's condition was inverted."""
    assert environment(p4d(**changes)).placement.group == group


def test_the_environment_can_be_updated_in_place():
    """DF-12, pain 9: with BEST_FIT, as in the templates, every change replaces it."""
    assert environment(P4D).allocation_strategy == "BEST_FIT_PROGRESSIVE"
    spot = raw_config(RAW, **{f"{NODES}g4dn__purchase_option": "spot"})
    assert environment(spot).allocation_strategy == "SPOT_PRICE_CAPACITY_OPTIMIZED"


def test_vcpus_are_those_of_whole_nodes():
    """BAT-15: the template's 100,000 vCPUs are not a multiple of a p4d.24xlarge."""
    plan = environment(raw_config(RAW, **{f"{NODES}g4dn__minimum": 1}))
    assert (plan.minimum_vcpus, plan.maximum_vcpus) == (32, 128)


@pytest.mark.parametrize(("now", "least"), [(BEFORE, 0), (None, 384), (AT_THE_END, 0)])
def test_no_node_of_a_capacity_block_is_wanted_before_or_after_it(now: datetime | None, least: int):
    raw = raw_config(P5, **{f"{NODES}p5__minimum": 2})
    plan = environment(raw, now=now) if now else environment(raw)
    assert (plan.minimum_vcpus, plan.maximum_vcpus) == (least, 384)


@pytest.mark.parametrize(
    ("now", "is_open", "opens", "closes"),
    [
        pytest.param(BEFORE, False, STARTS, CLOSES, id="before"),
        pytest.param(STARTS, True, None, CLOSES, id="first-moment"),
        pytest.param(CLOSES - timedelta(seconds=1), True, None, CLOSES, id="last-moment"),
        pytest.param(CLOSES, False, None, None, id="near-the-end"),
    ],
)
def test_jobs_start_from_the_start_of_the_block_until_40_minutes_before_its_end(
    now: datetime, is_open: bool, opens: datetime | None, closes: datetime | None
):
    """D9."""
    plan = environment(P5, now=now)
    assert plan.is_open == is_open
    assert (plan.schedule.scale_up_at, plan.schedule.scale_down_at) == (opens, closes)


@pytest.mark.parametrize(
    ("raw", "opens"),
    [
        pytest.param(P4D, None, id="odcr"),
        pytest.param(RAW, None, id="on-demand"),
        pytest.param(unknown(), None, id="unknown-times"),
        pytest.param(unknown(starts_at=STARTS.isoformat()), STARTS, id="unknown-end"),
    ],
)
def test_without_a_known_end_an_environment_is_never_closed(
    raw: dict[str, Any], opens: datetime | None
):
    plan = environment(raw, now=BEFORE)
    assert plan.is_open == (opens is None)
    assert (plan.schedule.scale_up_at, plan.schedule.scale_down_at) == (opens, None)


@pytest.mark.parametrize(
    ("gap", "now", "is_open"),
    [
        pytest.param(timedelta(), CLOSES, False, id="before-the-second"),
        pytest.param(timedelta(), ENDS, True, id="after-the-first"),
        pytest.param(timedelta(days=-3), CLOSES, True, id="side-by-side"),
    ],
)
def test_each_block_of_a_pool_opens_and_closes_its_own_environment(
    gap: timedelta, now: datetime, is_open: bool
):
    """The queue tries the open ones in order, so that it is closed only with the last one."""
    starts, ends = ENDS + gap, ENDS + gap + timedelta(days=7)
    times = {"starts_at": starts.isoformat(), "ends_at": ends.isoformat()}
    next_block = {"kind": "capacity-block", "reservation_id": "cr-0fedcba9876543210", **times}
    raw = raw_config(P5, reservations__next=next_block, **{f"{NODES}p5__further_blocks": ["next"]})
    first, further = plan_from(raw, now=now).compute_environments
    assert (first.is_open, first.schedule.moved_by_schedule) == (False, False)
    assert further.is_open == is_open
    assert further.schedule.scale_up_at == (None if is_open else starts)
    assert further.schedule.scale_down_at == ends - timedelta(minutes=40)


def test_the_user_is_told_when_nodes_of_a_capacity_block_come_and_go():
    raw = raw_config(P5, **{f"{NODES}p5__minimum": 2})
    told = notes(raw, now=BEFORE)
    assert "starts at 2026-11-01 11:30 UTC" in told
    assert "run `up` again then" in told
    assert "until the compute environment opens then" in told
    assert "ends at 2027-01-01 11:30 UTC; the compute environment closes 40 min" in notes(P5)
    assert "starts at" not in notes(P5)


def test_the_user_is_told_when_nodes_of_an_ultraserver_go():
    block = {**P5["reservations"]["block"], "instance_count": 4}
    nodes = {"instance_type": "trn2u.48xlarge", "purchase_option": "block", "subnet_id": None}
    changes = {f"{NODES}trn1__{key}": value for key, value in nodes.items()}
    told = notes(raw_config(TRN1, reservations={"block": block}, **changes))
    assert "the compute environment closes 70 minutes earlier" in told
    assert "EC2 begins to terminate its nodes 60 minutes before the end" in told


def test_an_image_comes_by_its_type_or_by_its_id():
    """BAT-02, BAT-18, BAT5-06."""
    assert environment(P4D).image_type == "ECS_AL2023_NVIDIA"
    assert environment(P4D).config.custom_ami_id is None
    own = environment(TRN1)
    assert (own.image_type, own.config.custom_ami_id) == (None, AMI)


def test_the_key_pair_is_optional():
    """BAT-05, BAT-17, DF-10."""
    assert environment(P4D).ssh_key_name is None
    assert environment(p4d(**{f"{NODES}p4d__ssh_key_name": "mine"})).ssh_key_name == "mine"


def test_local_disks_are_striped_where_there_are_some():
    """BAT-09."""
    assert environment(P4D).local_nvme == "raid0"
    assert environment(p4d(**{f"{NODES}p4d__local_nvme": "none"})).local_nvme == "none"
    plain = raw_config(
        RAW, **{f"{NODES}g4dn__instance_type": "m5.large"}, architecture__job_definitions={}
    )
    assert environment(plain).local_nvme == "none"


def test_nodes_launch_in_the_named_subnet_or_in_all():
    assert environment(TRN1).subnets == (PRIVATE_B,)
    assert environment(RAW).subnets == (PRIVATE_A, PRIVATE_B)


def test_in_a_new_vpc_the_capacity_chooses_the_subnet():
    network = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
    assert environment(p4d(network=network)).subnets == ("private-us-west-2b",)


def test_the_network_of_another_stack_stands_for_itself_until_it_is_read():
    network = {"kind": "stack-reference", "stack": "vpc-one-az"}
    plan = plan_from(p4d(network=network))
    assert plan.compute_environments[0].subnets == ("the private subnet of vpc-one-az",)
    named = p4d(network=network, **{f"{NODES}p4d__subnet_id": PRIVATE_B})
    assert environment(named).subnets == (PRIVATE_B,)


def test_what_only_the_account_knows_is_a_note_and_later_refused():
    assert "launches in the private subnet in us-west-2b" in notes(P4D)


def test_policies_and_priority_are_kept():
    raw = raw_config(
        RAW,
        **{
            f"{NODES}g4dn__iam_policies": ["AmazonS3ReadOnlyAccess"],
            f"{NODES}g4dn__queue_priority": 7,
        },
    )
    plan = environment(raw)
    assert plan.iam_policies == ("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",)
    assert plan.config.queue_priority == 7
