"""Which bad nodes are replaced now, later, or not at all, and why not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bad_nodes import BLOCK, NOW, block, cluster, group, node
from trainyard.repair.decision import (
    Cluster,
    Decision,
    Health,
    Node,
    Repair,
    Verification,
    decide,
    missing,
    names,
)


def decided(found: Cluster, named: str | None = None) -> Decision:
    return decide(found, now=NOW, named=named)


def obstacle(found: Cluster, named: str | None = None) -> str:
    (refused,) = decided(found, named).refused
    assert not decided(found, named).now
    return refused.obstacle


def test_a_bad_node_of_a_full_block_is_replaced_in_the_place_that_it_frees() -> None:
    found = decided(cluster(node(1), node(2, bad=True)))
    assert names(found.now) == "n2"
    assert found.now[0].because == "AcceleratedHardwareReady is False for 14 min"
    assert (found.later, found.refused, found.replacing) == ((), (), {})


def test_a_bad_node_that_is_not_ready_is_not_waited_for() -> None:
    """The node controller sets `Ready` of a node to Unknown when its kubelet is silent.

    https://kubernetes.io/docs/concepts/architecture/nodes/#heartbeats
    """
    found = decided(cluster(node(1), node(2, bad=True, is_ready=False)))
    assert (names(found.now), found.replacing) == ("n2", {})


def test_good_nodes_stay() -> None:
    found = decided(cluster(node(1), node(2)))
    assert (found.now, found.later, found.refused, found.suspected) == ((), (), (), ())


def test_one_at_a_time_unless_the_group_allows_more() -> None:
    bad = [node(number, bad=True) for number in (3, 1, 2)]
    one = decided(cluster(*bad))
    assert (names(one.now), names(one.later)) == ("n1", "n2, n3")
    two = decided(cluster(*bad, at_once=2))
    assert (names(two.now), names(two.later)) == ("n1, n2", "n3")


def test_a_node_that_is_missing_already_counts() -> None:
    """Its repair was interrupted after the termination, or it has just launched."""
    for found in (
        cluster(node(1), node(2, bad=True), desired=3),
        cluster(node(1, is_ready=False), node(2, bad=True)),
        cluster(node(2, bad=True), desired=2, instances={"i-2": "InService", "i-9": "Pending"}),
    ):
        assert (names(decided(found).now), names(decided(found).later)) == ("", "n2")
        assert decided(found).replacing == {"p5": 1}


def test_an_interrupted_repair_continues_first_whatever_the_node_says_now() -> None:
    found = decided(cluster(node(1, bad=True), node(2, has_begun=True, is_ready=False)))
    assert (names(found.now), names(found.later)) == ("n2", "n1")
    assert "interrupted" in found.now[0].because


def test_a_condition_that_has_just_begun_is_watched() -> None:
    young = node(1, health=Health(suspected="KernelReady is False for 2 min"))
    found = decided(cluster(young, node(2)))
    assert (names(found.now), names(found.suspected)) == ("", "n1")


def test_a_named_node_is_replaced_whatever_its_health_and_no_other() -> None:
    nodes = (node(1, is_ready=False), node(2, bad=True))
    found = decided(cluster(*nodes), named="n1")
    assert names(found.now) == "n1"
    assert "--node" in found.now[0].because
    assert not found.later


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": "expired"}, "is expired"),
        ({"state": "scheduled"}, "it is scheduled"),
        ({"ends_at": NOW + timedelta(minutes=69)}, "ends in less than 70 minutes"),
        (
            {"ends_at": NOW + timedelta(minutes=99), "instance_type": "trn2u.48xlarge"},
            "ends in less than 100 minutes",
        ),
    ],
)
def test_no_replacement_in_a_reservation_that_is_not_active_long_enough(
    changes: dict[str, Any], words: str
) -> None:
    found = cluster(node(1), node(2, bad=True), use=block(**changes))
    assert words in obstacle(found)
    assert words in obstacle(found, named="n2")


def test_a_reservation_without_an_end_has_time() -> None:
    assert decided(cluster(node(1, bad=True), use=block(ends_at=None))).now


def test_a_node_outside_of_its_reservation_frees_no_place() -> None:
    outside: dict[str, Any] = {"reservation_of": {}}
    found = cluster(node(1, bad=True), **outside)
    assert "frees no place in them, and cr-0123456789abcdef0 (2 x p5.48xlarge) is full" in obstacle(
        found
    )
    assert decided(cluster(node(1, bad=True), use=block(available=1), **outside)).now


def test_a_reservation_that_ends_has_no_place_for_a_node_outside_of_it() -> None:
    soon = block(available=1, ends_at=NOW + timedelta(minutes=69))
    found = cluster(node(1, bad=True), use=soon, reservation_of={})
    assert "frees no place in them, and cr-0123456789abcdef0 ends in less than 70" in obstacle(
        found
    )


def test_a_node_in_an_unknown_reservation_of_a_group_is_not_replaced() -> None:
    found = cluster(node(1, bad=True), targets=(), reservation_of={"i-1": "cr-unknown"})
    assert "frees no place" in obstacle(found)


def test_without_a_reservation_the_account_decides() -> None:
    assert decided(cluster(node(1, bad=True), is_reserved=False, targets=())).now


def test_a_suspended_process_would_leave_the_group_without_the_node() -> None:
    found = cluster(node(1, bad=True), suspended=("AZRebalance", "Launch"))
    assert "--scaling-processes Launch`" in obstacle(found)
    assert obstacle(found, named="n1")
    assert decided(cluster(node(1, bad=True), suspended=("AZRebalance",))).now


def test_a_group_that_terminates_nothing_is_not_drained() -> None:
    found = cluster(node(1, bad=True), suspended=("Terminate",))
    assert "--scaling-processes Terminate`" in obstacle(found)


@pytest.mark.parametrize("state", ["Terminating", "Terminating:Wait", "Terminated"])
@pytest.mark.parametrize("named", [None, "n1"])
def test_an_instance_that_is_leaving_is_not_terminated_again(state: str, named: str | None) -> None:
    found = decided(cluster(node(1, bad=True), instances={"i-1": state}), named)
    assert (found.now, found.later, found.refused) == ((), (), ())
    assert found.replacing == {"p5": 1}


def test_an_instance_that_is_not_in_service_is_left_to_auto_scaling() -> None:
    found = cluster(node(1, bad=True), instances={"i-1": "Standby"})
    assert "i-1 is Standby" in obstacle(found)


def test_eks_repairs_its_groups_unless_a_node_is_named() -> None:
    found = cluster(node(1, bad=True), repaired_by_eks=True)
    assert "auto_repair" in obstacle(found)
    assert decided(found, named="n1").now


def test_a_named_repair_that_was_interrupted_continues_in_a_group_of_eks() -> None:
    """Its node is cordoned, and EKS does not know why."""
    found = decided(cluster(node(1, has_begun=True), node(2), repaired_by_eks=True))
    assert (names(found.now), found.refused) == ("n1", ())


def test_many_bad_nodes_have_another_cause_than_a_node() -> None:
    """As in EKS: more than 20 % of a group with more than five nodes."""
    good = [node(number) for number in range(8)]
    two = cluster(*good, node(8, bad=True), node(9, bad=True))
    assert names(decided(two).now) == "n8"
    three = cluster(*good[:7], *(node(number, bad=True) for number in (7, 8, 9)))
    assert len(decided(three).refused) == 3
    assert "3 of 10 nodes" in decided(three).refused[0].obstacle
    assert names(decided(three, named="n9").now) == "n9"
    five = cluster(*good[:3], node(3, bad=True), node(4, bad=True))
    assert names(decided(five).now) == "n3"


def test_bad_nodes_of_another_group_do_not_count() -> None:
    """EKS compares the nodes of one group."""
    small = [node(1, bad=True), node(2)]
    large = [node(number, bad=number < 8) for number in range(3, 9)]
    groups = (group(*small), group(*large, name="p4d"))
    found = Cluster(nodes=(*small, *large), groups=groups, reservations={BLOCK: block()})
    assert names(decided(found).now) == "n1"
    assert {each.group.name for each in decided(found).refused} == {"p4d"}


def verified(number: int, result: str, at: str = "20261125T1403Z") -> Node:
    return node(
        number, verification=Verification(result=result, at=at, failures="bandwidth, pairs")
    )


def test_a_node_that_verify_names_is_bad() -> None:
    found = decided(cluster(verified(1, "passed"), verified(2, "failed"), node(3)))
    assert names(found.now) == "n2"
    assert found.now[0].because == (
        "`verify` failed on it, and passed on others (bandwidth, pairs)"
    )


def test_a_verification_that_names_no_node_replaces_none() -> None:
    """It fails on all nodes that were tested together."""
    failed = (verified(1, "failed"), verified(2, "failed"))
    for other in (node(3), verified(3, "passed", at="20261101T0000Z")):
        found = decided(cluster(*failed, other))
        assert (found.now, found.later, found.refused) == ((), (), ())


def test_groups_have_their_own_limits() -> None:
    one, other = node(1, bad=True), node(2, bad=True)
    groups = (group(one), group(other, name="p4d"))
    both = Cluster(nodes=(one, other), groups=groups, reservations={BLOCK: block()})
    assert names(decided(both).now) == "n1, n2"


NODES = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=9)


@given(nodes=NODES, at_once=st.integers(1, 4), more=st.integers(0, 3))
def test_never_more_nodes_are_gone_than_the_group_allows(
    nodes: list[tuple[bool, bool, bool]], at_once: int, more: int
) -> None:
    made = [
        node(number, bad=bad, is_ready=ready, has_begun=begun)
        for number, (bad, ready, begun) in enumerate(nodes)
    ]
    found = cluster(*made, at_once=at_once, desired=len(made) + more)
    decision = decided(found)
    gone = missing(found.groups[0], found)
    assert len(decision.now) <= max(0, at_once - gone)
    chosen: list[Repair] = [*decision.now, *decision.later, *decision.refused]
    wanted = {each.name for each in made if each.health.bad_because or each.has_begun}
    assert {each.node.name for each in chosen} == wanted
    assert len(chosen) == len(wanted)
