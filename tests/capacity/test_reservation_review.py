import pytest

from tests.support.eks import (
    NOW,
    OTHER_RESERVATION,
    RESERVATION,
    block,
    changed,
    config,
    p5,
    refusals,
    with_odcr,
)
from tests.support.stack_files import STACK_FILE, plan_from
from trainyard.components.capacity.checks import over_problems

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/g"


def two_groups(first, second, **reservation):
    raw = block(**reservation)
    groups = raw["architecture"]["node_groups"]
    groups["p5"].update(desired=first, maximum=4)
    groups["more"] = {**groups["p5"], "desired": second}
    return raw


def test_refuses_more_nodes_than_the_reservation_holds():
    """C5, D12."""
    found = refusals(p5(desired=3, maximum=3))
    problem = found["architecture.node_groups.p5.desired"]
    assert "3 of 2" in problem.problem
    assert problem.remedy.endswith("p5.desired' 2")


def test_refuses_node_groups_that_together_want_more_than_it_holds():
    """C5."""
    (problem,) = refusals(two_groups(2, 1)).values()
    assert problem.found == "more 1, p5 2"


def test_node_groups_that_share_a_reservation_exactly_are_planned():
    assert refusals(two_groups(1, 1)) == {}


def test_growing_beyond_a_reservation_is_noted():
    assert any("grow beyond its 2" in note for note in plan_from(p5(maximum=4)).notes)


def test_without_a_count_only_the_account_compares():
    raw = two_groups(4, 4)
    del raw["reservations"]["block"]["instance_count"]
    assert refusals(raw) == {}


TRN2U = {"instance_type": "trn2u.48xlarge", "maximum": 12}


@pytest.mark.parametrize(("desired", "set_to"), [(1, 4), (3, 4), (5, 4), (8, 4)])
@pytest.mark.parametrize("instance_count", [None, 4])
def test_refuses_nodes_that_are_no_whole_ultraserver(desired, set_to, instance_count):
    """D18: a second UltraServer is a block of its own."""
    raw = p5(**TRN2U, desired=desired)
    raw["reservations"]["block"]["instance_count"] = instance_count
    (problem,) = refusals(raw).values()
    assert "is no whole UltraServer: the Capacity Block `block` has the 4" in problem.problem
    assert (problem.found, problem.rules) == (f"p5 {desired}", ("D18",))
    assert problem.remedy.endswith(f"p5.desired' {set_to}; for more nodes, use `further_blocks`")


@pytest.mark.parametrize("desired", [0, 4])
def test_a_whole_ultraserver_or_none_is_planned(desired):
    raw = p5(**TRN2U, desired=desired, minimum=0)
    raw["reservations"]["block"]["instance_count"] = 4
    assert refusals(raw) == {}


def test_node_groups_can_share_an_ultraserver():
    raw = two_groups(1, 3, instance_count=4)
    for group in raw["architecture"]["node_groups"].values():
        group["instance_type"] = "trn2u.48xlarge"
    assert refusals(raw) == {}


def test_instances_of_an_ultraserver_type_in_an_odcr_have_any_number():
    assert refusals(with_odcr(instance_type="trn2u.48xlarge", desired=1)) == {}


def test_a_block_that_has_expired_is_noted_and_refused_where_nodes_would_be_created():
    """D13, D19: what else the stack has stays operable."""
    raw = block(ends_at=NOW.isoformat())
    (note,) = (note for note in plan_from(raw).notes if "is over" in note)
    assert note.startswith("reservation block: the Capacity Block is over")
    (problem,) = over_problems(config(raw), NOW, stack_file=STACK_FILE)
    assert problem.path == "trainyard:cluster.reservations.block.ends_at"
    assert "has expired" in problem.problem
    assert "reservation_id' cr-…" in problem.remedy


@pytest.mark.parametrize("ends_at", ["2026-11-21T12:20:00Z", "2026-12-21T12:00:00Z"])
def test_a_block_that_has_not_ended_is_planned(ends_at):
    assert refusals(block(ends_at=ends_at)) == {}


def test_refuses_a_reservation_of_another_region():
    assert list(refusals(block(availability_zone="us-east-1a"))) == [
        "reservations.block.availability_zone"
    ]


def test_refuses_one_reservation_under_two_names():
    raw = changed(reservations__twin={"kind": "odcr", "reservation_id": RESERVATION})
    assert "is the same reservation as `block`" in refusals(raw)["reservations.twin"].problem


def test_refuses_a_reservation_with_the_name_of_a_purchase_option():
    raw = changed(reservations__spot={"kind": "odcr", "reservation_id": OTHER_RESERVATION})
    assert "could mean either" in refusals(raw)["reservations.spot"].problem


def test_an_unused_reservation_is_noted():
    raw = changed(reservations__spare={"kind": "odcr", "reservation_id": OTHER_RESERVATION})
    assert "reservation spare: no node group uses it" in plan_from(raw).notes


def test_a_group_to_make_of_reservations_is_planned():
    """PR-05, PR-06."""
    raw = changed(
        reservations__block={
            "kind": "odcr-group",
            "members": [RESERVATION],
            "availability_zone": "us-west-2b",
        }
    )
    capacity = plan_from(raw).node_groups[1].capacity
    assert capacity.reservation_group_members == (RESERVATION,)
    assert capacity.preference == "capacity-reservations-only"


def test_refuses_a_reservation_that_stands_in_a_group_and_alone():
    raw = changed(
        reservations__pool={"kind": "odcr-group", "members": [OTHER_RESERVATION, RESERVATION]}
    )
    problem = refusals(raw)["reservations.pool"]
    assert problem.found == RESERVATION


def test_refuses_a_group_that_lists_a_reservation_twice():
    arn = f"arn:aws:ec2:us-west-2:999988887777:capacity-reservation/{OTHER_RESERVATION}"
    raw = changed(reservations__pool={"kind": "odcr-group", "members": [OTHER_RESERVATION, arn]})
    problem = refusals(raw)["reservations.pool"]
    assert "twice" in problem.problem


def test_a_group_of_reservations_by_arn_is_planned():
    raw = changed(
        reservations__block={
            "kind": "odcr-group",
            "group_arn": GROUP_ARN,
            "availability_zone": "us-west-2b",
        }
    )
    assert plan_from(raw).node_groups[1].capacity.reservation_group_arn == GROUP_ARN


def test_efa_in_a_group_of_reservations_needs_its_zone():
    """A6: such a group may lie in several zones."""
    raw = changed(reservations__block={"kind": "odcr-group", "group_arn": GROUP_ARN})
    assert list(refusals(raw)) == ["architecture.node_groups.p5.availability_zone"]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"group_arn": GROUP_ARN.replace("us-west-2", "us-east-2")}, "group_arn"),
        (
            {
                "members": [
                    RESERVATION,
                    f"arn:aws:ec2:sa-east-1:123456789012:capacity-reservation/{OTHER_RESERVATION}",
                ]
            },
            "members[1]",
        ),
    ],
)
def test_refuses_reservations_of_another_region(entry, key):
    """PR-07: the sample of the reference groups reservations of São Paulo in Ohio."""
    raw = changed(reservations__block={"kind": "odcr-group", **entry})
    assert "us-west-2" in refusals(raw)[f"reservations.block.{key}"].problem


def test_a_resource_share_is_refused_where_nothing_accepts_it():
    """PR-08: stacks of EKS leave the acceptance to the user."""
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"
    raw = block(kind="odcr", resource_share_arn=share)
    assert "reservations.block.resource_share_arn" in refusals(raw)


def test_says_what_it_assumes_of_a_reservation_that_only_the_account_knows():
    read = {"kind": "odcr", "reservation_id": RESERVATION, "provenance": "auto"}
    (note,) = [n for n in plan_from(changed(reservations__block=read)).notes if "provenance" in n]
    assert note.endswith("its nodes are planned without one")
