"""Renamed nodes launch in a full reservation only after the old ones have terminated."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.support.cluster_configs import texts
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.parallelcluster.update_review import surge_problems

ODCR = "cr-0123456789abcdef0"
OTHER = "cr-0fedcba9876543210"
GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/reserved"


def resource(name: str, least: int, most: int, **more: Any) -> dict[str, Any]:
    return {"Name": name, "MinCount": least, "MaxCount": most, **more}


def queue(name: str, *resources: dict[str, Any], target: str | None = ODCR) -> dict[str, Any]:
    key = "CapacityReservationResourceGroupArn" if target == GROUP else "CapacityReservationId"
    reserved = {"CapacityReservationTarget": {key: target}} if target else {}
    return {"Name": name, "ComputeResources": list(resources), **reserved}


def cluster(*queues: dict[str, Any]) -> dict[str, Any]:
    return {"Scheduling": {"SlurmQueues": list(queues)}}


OLD = cluster(queue("gpu", resource("old", 2, 2)))
RENAMED = cluster(queue("gpu", resource("new", 2, 2)))


def review(old: Any, new: Any, room: int | None = 2, *, stopped: bool = False) -> list[Problem]:
    instances = {} if room is None else {ODCR: room, OTHER: room, GROUP: room}
    file = "Pulumi.pc-p4de-ami.yaml"
    return list(surge_problems(old, new, instances, stack_file=file, fleet_stopped=stopped))


@pytest.mark.parametrize("old", [OLD, texts(OLD)])
def test_nodes_of_another_name_do_not_start_beside_those_that_go(old):
    """PR-04: ParallelCluster would accept the change with TERMINATE, and launch at once."""
    (problem,) = review(old, RENAMED)
    assert problem.path == f"{ROOT}.architecture.queues.gpu.compute_resources.new.minimum"
    assert f"launch into {ODCR}, which has 2 instances" in problem.problem
    assert "while jobs can still run on the nodes of gpu/old" in problem.problem
    assert "compute_resources.new.minimum' 0 for this one, then 2 again" in problem.remedy


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(OLD, OLD, id="nothing"),
        pytest.param(
            OLD,
            cluster(queue("gpu", resource("old", 2, 2, InstanceType="p5.48xlarge"))),
            id="other-nodes-in-the-place-of-old-ones",
        ),
        pytest.param(
            OLD, cluster(queue("gpu", resource("new", 0, 2))), id="nodes-that-wait-for-jobs"
        ),
        pytest.param(OLD, cluster(queue("gpu", resource("old", 1, 1))), id="fewer"),
        pytest.param(OLD, cluster(queue("g", resource("n", 2, 2), target=None)), id="on-demand"),
        pytest.param(OLD, cluster(queue("g", resource("n", 2, 2), target=OTHER)), id="elsewhere"),
        pytest.param(OLD, cluster(), id="removed"),
        pytest.param(cluster(), OLD, id="added"),
    ],
)
def test_an_update_that_needs_no_more_than_the_reservation_is_taken(old, new):
    assert not review(old, new)


def test_where_there_is_room_for_both_both_may_run():
    assert not review(OLD, RENAMED, room=4)
    assert review(OLD, RENAMED, room=3)
    assert "is unknown" in review(OLD, RENAMED, room=None)[0].problem


def test_a_stopped_fleet_has_no_nodes_that_go():
    assert not review(OLD, RENAMED, stopped=True)


def test_resources_that_change_places_need_both_reservations_twice():
    swapped = cluster(
        queue("a", resource("r", 2, 2), target=OTHER), queue("b", resource("r", 2, 2), target=ODCR)
    )
    before = cluster(
        queue("a", resource("r", 2, 2), target=ODCR), queue("b", resource("r", 2, 2), target=OTHER)
    )
    assert len(review(before, swapped)) == 2


def test_a_group_of_reservations_is_full_too_and_a_resource_may_have_its_own_target():
    own = {"CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP}}
    old = cluster(queue("gpu", resource("old", 0, 2), target=GROUP))
    new = cluster(queue("gpu", resource("new", 1, 2, **own), target=None))
    assert len(review(old, new)) == 1


def test_the_most_that_may_run_counts_also_where_only_the_default_says_it():
    old = copy.deepcopy(OLD)
    del old["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MaxCount"]
    assert review(old, RENAMED, room=11)
    assert not review(old, RENAMED, room=12)
