"""Placement groups that a stack file names, and the zones of their nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import judged, refused
from tests.support.eks import block, p5, with_odcr
from trainyard.components.compute.facts import PlacementGroupFacts

GROUP = {"kind": "odcr", "placement_group": "mine"}
RESERVED = "reservations.block.placement_group"


@pytest.fixture
def with_group(facts):
    def _with(found):
        known = replace(facts, named={("placement-group", "mine"): found})
        return judged(with_odcr(GROUP), known)

    return _with


def test_a_cluster_placement_group_is_accepted(with_group):
    """B3."""
    found = PlacementGroupFacts(state="available", strategy="cluster")
    assert RESERVED not in refused(with_group(found), "placement groups")


@pytest.mark.parametrize(
    "found",
    [
        None,
        PlacementGroupFacts(state="deleting", strategy="cluster"),
        PlacementGroupFacts(state="available", strategy="spread"),
        PlacementGroupFacts(state="available", strategy="partition"),
    ],
)
def test_another_placement_group_is_refused(with_group, found):
    """B3."""
    assert RESERVED in refused(with_group(found), "placement groups")


def test_nodes_outside_of_a_reservation_share_its_group_in_its_zone_only(facts):
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html."""
    raw = with_odcr({"placement_group": "mine"})
    other = {**raw["architecture"]["node_groups"]["p5"], "purchase_option": "on-demand"}
    raw["architecture"]["node_groups"]["other"] = {
        **other,
        "availability_zone": "us-west-2a",
        "placement": {"group": "existing", "name": "mine"},
    }
    found = judged(raw, replace(facts, offered_zone_ids={}))
    (problem,) = refused(found, "placement groups").values()
    assert problem.found == "mine, in usw2-az2"
    assert "node_groups.other uses this one in usw2-az1" in problem.problem


def test_a_block_has_no_placement_group_to_share(facts):
    assert refused(judged(block(), facts), "placement groups") == {}


@pytest.mark.parametrize(("letter", "accepted"), [("b", True), ("a", False)])
def test_one_group_serves_one_zone(facts, letter, accepted):
    raw = p5(
        purchase_option="on-demand",
        availability_zone="us-west-2b",
        placement={"group": "existing", "name": "mine"},
    )
    raw["architecture"]["node_groups"]["other"] = {
        **raw["architecture"]["node_groups"]["p5"],
        "availability_zone": f"us-west-2{letter}",
    }
    known = replace(facts, offered_zone_ids={})
    found = refused(judged(raw, known), "placement groups")
    assert (found == {}) == accepted
