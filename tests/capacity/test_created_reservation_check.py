"""Changes that EC2 does not make to a reservation that the stack has created."""

from dataclasses import replace

import pytest

from tests.support.eks import PRIVATE, STACK_FILE, config, refusals, with_created_odcr
from tests.support.eks_account import BLOCK, NOW
from trainyard.components.architectures.prepare import complete, examine
from trainyard.components.capacity.checks import later_reservation_warnings, over_problems

ENTRY = "trainyard:cluster.reservations.block"


@pytest.fixture
def created(block):
    """Return the reservation that the stack has created."""
    return replace(block, kind="odcr", ends_at=None, available_count=2)


def problems(raw, facts, created=None):
    account = replace(
        facts,
        reservations={BLOCK: created} if created else {},
        created_reservations={"block": BLOCK} if created else {},
    )
    found = examine(config(raw), account, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    return {problem.path: problem for problem in found.problems}


def test_a_reservation_that_is_not_created_yet_has_no_problem(facts):
    assert problems(with_created_odcr(), facts) == {}


def test_one_that_was_created_as_the_stack_file_says_has_no_problem(facts, created):
    assert problems(with_created_odcr(), facts, created) == {}


def test_more_instances_and_another_end_are_changes_in_place(facts, created):
    raw = with_created_odcr(instance_count=6, ends_at="2027-01-01T00:00:00Z")
    assert problems(raw, facts, created) == {}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        (
            {"instance_type": "p5en.48xlarge"},
            "trainyard:cluster.architecture.node_groups.p5.instance_type",
        ),
        ({"availability_zone": "us-west-2a"}, f"{ENTRY}.availability_zone"),
        ({"placement_group": "near"}, f"{ENTRY}.placement_group"),
        ({"platform": "SUSE Linux"}, "trainyard:cluster.architecture.operating_system"),
    ],
)
def test_a_change_that_would_replace_it_is_refused_while_it_is_protected(
    facts, created, changes, path
):
    had = replace(created, **changes)
    found = problems(with_created_odcr(), facts, had)[path]
    assert BLOCK in found.problem
    assert "deletion_protection" in found.remedy
    assert path not in problems(with_created_odcr(deletion_protection=False), facts, had)


def test_fewer_instances_than_run_in_it_are_refused(facts, created):
    raw = with_created_odcr(instance_count=2)
    full = replace(created, instance_count=4, available_count=1)
    found = problems(raw, facts, full)[f"{ENTRY}.instance_count"]
    assert "3 instances run" in found.problem
    assert problems(raw, facts, replace(full, available_count=2)) == {}


def test_a_subnet_in_another_zone_is_refused_before_the_reservation_exists(facts):
    raw = with_created_odcr()
    raw["architecture"]["node_groups"]["p5"]["subnet_id"] = PRIVATE[0]
    found = problems(raw, facts)["trainyard:cluster.architecture.node_groups.p5.subnet_id"]
    assert "the zone of reservation `block`" in found.problem


def test_a_reservation_has_the_one_type_of_its_nodes():
    raw = with_created_odcr()
    groups = raw["architecture"]["node_groups"]
    groups["other"] = {**groups["p5"], "instance_type": "p5en.48xlarge", "desired": 0}
    assert "several instance types" in refusals(raw)["reservations.block.create"].problem


def test_a_reservation_without_nodes_has_no_type():
    raw = with_created_odcr()
    raw["architecture"]["node_groups"]["p5"]["purchase_option"] = "on-demand"
    problem = refusals(raw)["reservations.block.create"]
    assert "no node group uses" in problem.problem


def test_more_nodes_than_instances_are_refused():
    problem = refusals(with_created_odcr(instance_count=1))["architecture.node_groups.p5.desired"]
    assert "which the stack creates" in problem.problem


def test_an_end_in_the_past_is_refused_where_the_reservation_would_be_created():
    raw = with_created_odcr(ends_at="2026-11-01T00:00:00Z")
    assert refusals(raw) == {}
    (problem,) = over_problems(config(raw), NOW, stack_file=STACK_FILE)
    assert problem.path == "trainyard:cluster.reservations.block.ends_at"
    assert "in the past" in problem.problem


def test_a_reservation_of_the_stack_that_is_not_active_yet_is_no_warning(facts, created):
    """It is the stack that creates it; the nodes wait for it."""
    pending = replace(created, state="pending")
    account = replace(facts, reservations={BLOCK: pending}, created_reservations={"block": BLOCK})
    completed = complete(config(with_created_odcr()), account)
    assert completed.reservations["block"].reservation_id == BLOCK
    assert list(later_reservation_warnings(completed, account)) == []
