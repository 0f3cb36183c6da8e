"""Updates that move nodes from one Capacity Block to the next one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.steps import BLOCK, ODCR, cluster_template, managed, self_managed, step, template
from trainyard.changes.losses import collisions, losses
from trainyard.changes.refusal import Background, blocks_of, explanation, judge
from trainyard.changes.reserved_capacity import COMPUTE_ENVIRONMENT
from trainyard.changes.steps import PlannedStep

NEXT, OTHER = "cr-0cb00000000000001", "cr-0cb00000000000002"
CLUSTER = "aws:cloudformation/stack:Stack"
ENVIRONMENT = step("update", COMPUTE_ENVIRONMENT, "p5-environment")


def queue(target: str | None, name: str = "p5", *, static: int = 2, block: bool = True) -> Any:
    """Return a queue whose one compute resource has this reservation."""
    own = {"CapacityReservationTarget": {"CapacityReservationId": target}} if target else {}
    resource = {"Name": "nodes", "MinCount": static, **own}
    kind = "CAPACITY_BLOCK" if block else "ONDEMAND"
    return {"Name": name, "CapacityType": kind, "ComputeResources": [resource]}


def slurm(before: list[Any], after: list[Any], strategy: str = "DRAIN") -> list[PlannedStep]:
    bodies = [
        {"templateBody": cluster_template(queues=each, strategy=strategy)}
        for each in (before, after)
    ]
    return [step("update", CLUSTER, "pc-deployment", old=bodies[0], new=bodies[1])]


def moved(group: PlannedStep) -> list[PlannedStep]:
    return [template("update", "p5", BLOCK, block=True, next_one=NEXT), group]


MOVES = (
    (moved(self_managed("update", "p5")), "p5-nodes", "its 2 nodes"),
    (moved(ENVIRONMENT), "p5-environment", "its nodes"),
    (slurm([queue(BLOCK)], [queue(NEXT)]), "pc-deployment/p5/nodes", "its 2 nodes"),
)


@pytest.mark.parametrize(("steps", "name", "nodes"), MOVES)
def test_nodes_that_leave_a_running_block_are_a_loss_that_is_named(
    steps: list[PlannedStep], name: str, nodes: str
) -> None:
    (loss,) = judge(steps, allowed=(), instances={}).losses
    assert (loss.name, loss.kind) == (name, "capacity")
    assert loss.lost.startswith(f"{nodes} in Capacity Block {BLOCK}")
    assert loss.moves_to is not None
    assert loss.moves_to.target == NEXT
    assert not judge(steps, allowed=[name], instances={}).losses


@pytest.mark.parametrize(("steps", "name", "_nodes"), MOVES)
def test_a_block_in_which_no_node_runs_is_left_without_a_question(
    steps: list[PlannedStep], name: str, _nodes: str
) -> None:
    strict = judge(steps, allowed=(), instances={})
    assert blocks_of(strict, steps) == {BLOCK}
    assert not judge(steps, allowed=(), instances={}, idle={BLOCK}).refuses, name


def test_a_managed_group_moves_only_when_no_node_runs_in_its_block() -> None:
    group = managed("update", "p5", changed=("launchTemplate.version",))
    inputs = {**group.old, "capacityType": "CAPACITY_BLOCK"}
    steps = moved(
        step("update", group.type, "p5-node-group", old=inputs, new=inputs, changed=group.changed)
    )
    strict = judge(steps, allowed=(), instances={})
    assert strict.running_blocks
    assert blocks_of(strict, steps) == {BLOCK}
    assert not judge(steps, allowed=(), instances={}, idle={BLOCK}).refuses


@pytest.mark.parametrize("group", [self_managed("update", "p5"), ENVIRONMENT])
def test_a_group_that_stays_in_its_block_loses_nothing(group: PlannedStep) -> None:
    assert losses([template("update", "p5", BLOCK, block=True), group]) == ()


def test_a_move_between_on_demand_reservations_loses_nothing() -> None:
    assert losses([template("update", "p5", ODCR, next_one=NEXT), ENVIRONMENT]) == ()
    assert losses(slurm([queue(ODCR, block=False)], [queue(NEXT, block=False)])) == ()


@pytest.mark.parametrize("block", [True, False])
def test_slurm_nodes_that_are_removed_from_their_reservation_are_lost(block: bool) -> None:
    steps = slurm([queue(BLOCK, block=block), queue(None, "cpu")], [queue(None, "cpu")])
    (loss,) = losses(steps)
    assert loss.name == "pc-deployment/p5/nodes"
    assert loss.moves_to is None
    assert losses(slurm([queue(BLOCK, static=2)], [queue(BLOCK, static=1)])) == ()


@pytest.mark.parametrize(
    ("first", "strategy", "lost"),
    [
        (NEXT, "TERMINATE", {"nodes", "further"}),
        (NEXT, "DRAIN", {"nodes"}),
        (BLOCK, "TERMINATE", set()),
        (None, "TERMINATE", {"nodes"}),
    ],
    ids=["changed", "drained", "unchanged", "removed"],
)
def test_slurm_nodes_in_a_further_block_end_with_those_of_a_changed_one(
    first: str | None, strategy: str, lost: set[str]
) -> None:
    """ParallelCluster ends all nodes of a queue in which a reservation changes."""

    def both(target: str | None) -> list[Any]:
        (further,) = queue(OTHER)["ComputeResources"]
        found = queue(target)
        own = found["ComputeResources"] if target else []
        return [{**found, "ComputeResources": [*own, {**further, "Name": "further"}]}]

    steps = slurm(both(BLOCK), both(first), strategy)
    found = {loss.name.rpartition("/")[2]: loss for loss in losses(steps)}
    assert found.keys() == lost
    if "further" in lost:
        verdict = judge(steps, allowed=(), instances={})
        said = explanation(verdict, Background(command="up", destroy="", deployed=None, wanted={}))
        assert f"its 2 nodes in Capacity Block {OTHER}, and the jobs on them" in said
        assert "ParallelCluster ends all nodes of a queue in which a reservation changes" in said
        assert not judge(steps, allowed=(), instances={}, idle={BLOCK, OTHER}).losses


def test_a_refusal_says_what_to_do_instead() -> None:
    steps = moved(self_managed("update", "p5"))
    background = Background(
        command="./trainyard up p5-cb",
        destroy="./trainyard destroy p5-cb",
        deployed=None,
        wanted={},
        ends={BLOCK: "2026-12-07 12:00 UTC, 6 days 0 hours from now"},
    )
    said = explanation(judge(steps, allowed=(), instances={}), background)
    assert f"its nodes launch into Capacity Block {NEXT} from now on" in said
    assert "runs until 2026-12-07 12:00 UTC, 6 days 0 hours from now" in said
    assert "wait until the block ends; or leave this pool as it is, and add one for the" in said
    assert said.endswith("./trainyard up p5-cb --replace p5-nodes")


@pytest.mark.parametrize(
    ("instances", "full"), [({}, True), ({BLOCK: 3}, True), ({BLOCK: 4}, False)]
)
def test_a_cluster_with_another_name_needs_room_for_the_static_nodes_of_both(
    instances: dict[str, int], full: bool
) -> None:
    body = {"templateBody": cluster_template(queues=[queue(BLOCK)])}
    steps = [step("delete", CLUSTER, "old", old=body), step("create", CLUSTER, "new", new=body)]
    assert bool(collisions(steps, instances)) == full
    dynamic = {"templateBody": cluster_template(queues=[queue(BLOCK, static=0)])}
    assert not collisions([steps[0], step("create", CLUSTER, "new", new=dynamic)], instances)


def test_a_cluster_with_another_name_is_created_after_the_old_one_is_destroyed() -> None:
    body = {"templateBody": cluster_template(queues=[queue(BLOCK)])}
    steps = [step("delete", CLUSTER, "old", old=body), step("create", CLUSTER, "new", new=body)]
    background = Background(command="UP", destroy="DESTROY", deployed=None, wanted={})
    said = explanation(judge(steps, allowed=["old"], instances={}), background)
    assert f"new would start in Capacity Block {BLOCK} while old still runs" in said
    assert "destroy the cluster, and create it again:\n      DESTROY\n      UP" in said
