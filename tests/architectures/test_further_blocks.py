"""Stacks of each architecture whose nodes have two Capacity Blocks, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.batch import P5
from tests.support.eks import OTHER_RESERVATION, RESERVATION, changed, config, refusals
from tests.support.kubernetes import DEFAULT
from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import STACK_FILE, plan_from
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.batch.resources import BatchArchitecture
from trainyard.components.capacity.checks import over_problems
from trainyard.components.capacity.timeline import block_timelines
from trainyard.components.eks.addons import kueue
from trainyard.components.eks.addons.addon import AddonTarget
from trainyard.components.eks.node_group_plan import BLOCK_LABEL, NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.rendering import render_queue
from trainyard.jobs.nodes import JobRequest, choose_nodes, placement
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
from trainyard.verify.inventory import node_selector

CHANGE = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
"""End of the first block, and start of the second one."""
BEFORE, AFTER = CHANGE - timedelta(days=1), CHANGE + timedelta(days=1)
WEEK = timedelta(days=7)


def reservation(reservation_id: str, starts_at: datetime, zone: str) -> dict[str, Any]:
    return {
        "kind": "capacity-block",
        "reservation_id": reservation_id,
        "availability_zone": zone,
        "instance_count": 2,
        "starts_at": starts_at.isoformat(),
        "ends_at": (starts_at + WEEK).isoformat(),
    }


def blocks(zone: str, next_start: datetime = CHANGE) -> dict[str, Any]:
    return {
        "block": reservation(RESERVATION, CHANGE - WEEK, "us-west-2b"),
        "next": reservation(OTHER_RESERVATION, next_start, zone),
    }


def eks(next_start: datetime = CHANGE, **changes: Any) -> dict[str, Any]:
    return changed(
        reservations=blocks("us-west-2a", next_start),
        architecture__node_groups__p5__further_blocks=["next"],
        **changes,
    )


def groups_of(found: EksPlan) -> dict[str, NodeGroupPlan]:
    return {each.name: each for each in found.node_groups if each.name != "system"}


def test_the_nodes_of_eks_change_over_by_the_schedules_of_both_blocks():
    """No `up` is needed at that moment, and each group launches in the zone of its block."""
    first, second = groups_of(plan_from(eks(), now=BEFORE)).values()
    assert (first.name, second.name) == ("p5", "p5-next")
    assert (first.schedule.desired, second.schedule.desired) == (2, 0)
    assert first.schedule.scale_down_at == CHANGE - timedelta(minutes=40)
    assert (second.schedule.scale_up_at, second.schedule.scale_up_desired) == (CHANGE, 2)
    assert [each.capacity.availability_zone for each in (first, second)] == [
        "us-west-2b",
        "us-west-2a",
    ]
    assert first.key == second.key == "architecture.node_groups.p5"


def test_the_first_nodes_are_the_same_as_without_a_further_block():
    alone = groups_of(plan_from(changed(reservations=blocks("us-west-2a")), now=BEFORE))["p5"]
    first = groups_of(plan_from(eks(), now=BEFORE))["p5"]
    assert {**vars_of(first), "config": None} == {**vars_of(alone), "config": None}


def vars_of(group: NodeGroupPlan) -> dict[str, Any]:
    return {name: getattr(group, name) for name in group.__dataclass_fields__}


def test_a_block_that_is_over_does_not_stop_an_update_while_another_one_is_not():
    found = plan_from(eks(), now=AFTER)
    assert [each.schedule.state for each in groups_of(found).values()] == ["expired", "active"]
    assert any("reservation block: the Capacity Block is over" in note for note in found.notes)


def test_the_entry_of_a_block_that_is_over_can_stay_when_no_nodes_use_it():
    raw = eks(architecture__node_groups__p5__purchase_option="next")
    raw["architecture"]["node_groups"]["p5"]["further_blocks"] = []
    (only,) = groups_of(plan_from(raw, now=AFTER)).values()
    assert only.schedule.state == "active"


def test_a_stack_with_only_blocks_that_are_over_is_operated_but_not_deployed():
    late = CHANGE + 2 * WEEK
    assert refusals(eks(), now=late) == {}
    found = over_problems(config(eks()), late, stack_file=STACK_FILE)
    assert [problem.path for problem in found] == [
        "trainyard:cluster.reservations.block.ends_at",
        "trainyard:cluster.reservations.next.ends_at",
    ]


def test_too_many_nodes_for_the_second_block_are_refused_at_the_key_of_the_first_one():
    raw = eks()
    raw["reservations"]["next"]["instance_count"] = 1
    (problem,) = refusals(raw, now=BEFORE).items()
    assert problem[0] == "architecture.node_groups.p5.desired"
    assert "`next`" in problem[1].problem


def test_the_timeline_has_each_block_with_its_nodes():
    found = block_timelines(config(eks()))
    assert [(each.reservation, each.pools) for each in found] == [
        ("block", ("node group p5: 2 x p5.48xlarge",)),
        ("next", ("node group p5-next: 2 x p5.48xlarge",)),
    ]


@pytest.mark.parametrize(
    ("next_start", "gpus"), [(CHANGE, "16"), (CHANGE - timedelta(days=2), "32")]
)
def test_the_queue_offers_the_most_nodes_that_exist_at_the_same_time(
    next_start: datetime, gpus: str
):
    """Blocks in sequence have one set of nodes at a time; blocks side by side have two."""
    groups = groups_of(plan_from(eks(next_start), now=BEFORE)).values()
    target = AddonTarget(
        region="us-west-2",
        kubernetes_version=DEFAULT,
        instance_types=[],
        taints=[],
        groups=tuple(groups),
        plugins=("nvidia",),
    )
    (workload,) = kueue.workloads(target)
    made = {each["kind"]: each["spec"] for each in workload.objects_after}
    (resources,) = made["ClusterQueue"]["resourceGroups"]
    (flavor,) = resources["flavors"]
    assert flavor["name"] == "p5"
    offered = {each["name"]: each["nominalQuota"] for each in flavor["resources"]}
    assert offered["nvidia.com/gpu"] == gpus
    assert BLOCK_LABEL not in made["ResourceFlavor"]["nodeLabels"]


@pytest.mark.parametrize(
    ("now", "group", "chosen"),
    [
        (BEFORE, None, "p5"),
        (BEFORE, "p5", "p5"),
        (BEFORE, "p5-next", "p5-next"),
        (AFTER, None, "p5-next"),
        (AFTER, "p5", "p5-next"),
    ],
)
def test_a_job_runs_on_the_nodes_that_are_there(now: datetime, group: str | None, chosen: str):
    found = plan_from(eks(), now=now)
    assert choose_nodes(found, "nvidia", JobRequest(group=group)).group.name == chosen


def test_the_pods_of_a_job_meet_in_one_block():
    """Side by side, the nodes of both blocks have the labels of the node group."""
    found = plan_from(eks(CHANGE - timedelta(days=2)), now=BEFORE)
    first, second = (
        choose_nodes(found, "nvidia", JobRequest(group=name)) for name in ("p5", "p5-next")
    )
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    assert placement(first)["nodeSelector"] == labels
    (term,) = placement(first)["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": BLOCK_LABEL, "operator": "DoesNotExist"}]}
    assert node_selector(first).endswith(f",!{BLOCK_LABEL}")
    assert placement(second)["nodeSelector"] == {**labels, BLOCK_LABEL: OTHER_RESERVATION}
    assert "affinity" not in placement(second)


def slurm(*further: str) -> dict[str, Any]:
    return raw_g4dn(
        reservations=blocks("us-west-2b"),
        architecture__queues={
            "gpu": {
                "purchase_option": "block",
                "compute_resources": {
                    "p5": {
                        "instance_type": "p5.48xlarge",
                        "minimum": 2,
                        "maximum": 2,
                        "further_blocks": [*further],
                    }
                },
            }
        },
    )


def test_a_queue_of_slurm_gets_a_compute_resource_and_stays_as_it_is():
    """A change of the target of the queue would replace the nodes that run."""
    (alone,), (both,) = (plan_from(slurm(*further)).queues for further in ((), ("next",)))
    before, after = render_queue(alone), render_queue(both)
    assert after["CapacityReservationTarget"] == {"CapacityReservationId": RESERVATION}
    first, second = after["ComputeResources"]
    assert {**after, "ComputeResources": [first]} == before
    assert second == {
        **first,
        "Name": "p5-next",
        "CapacityReservationTarget": {"CapacityReservationId": OTHER_RESERVATION},
    }


def test_slurm_chooses_one_block_for_all_nodes_of_a_job():
    found = plan_from(slurm("next"))
    nodes = choose_slurm_nodes(found, "nvidia", SlurmRequest())
    assert nodes.constraint == "[p5|p5-next]"
    assert [each.purchase_option for each in nodes.capacities] == ["block", "next"]
    named = choose_slurm_nodes(found, "nvidia", SlurmRequest(compute_resource="p5-next"))
    assert named.constraint == "p5-next"


def batch(*further: str, **more: dict[str, Any]) -> dict[str, Any]:
    architecture = P5["architecture"]
    environment = {
        **architecture["compute_environments"]["p5"],
        "further_blocks": [*further],
    }
    return {
        **P5,
        "reservations": {**blocks("us-west-2b"), **more},
        "architecture": {**architecture, "compute_environments": {"p5": environment}},
    }


@pytest.fixture
def deployed_queue(deploy: Any) -> Callable[[BatchPlan], Any]:
    def run(found: BatchPlan) -> Any:
        cloud = deploy(lambda: BatchArchitecture(found.name, found).outputs() and None)
        (queue,) = cloud.of_type("aws:batch/jobQueue:JobQueue")
        return queue.inputs

    return run


def test_one_queue_of_batch_tries_the_environments_of_all_blocks(
    deployed_queue: Callable[[BatchPlan], Any],
):
    found = plan_from(batch("next"), now=BEFORE)
    assert found.queue_names == ["batch-p5-p5"]
    orders = deployed_queue(found)["computeEnvironmentOrders"]
    assert [each["order"] for each in orders] == [1, 2]
    assert ["next" in each["computeEnvironment"] for each in orders] == [False, True]


def test_a_job_definition_names_the_environment_of_the_stack_file():
    raw = batch("next")
    raw["architecture"]["job_definitions"] = {
        "test": {"compute_environment": "p5-next", "nodes": 2}
    }
    (problem,) = refusals(raw, now=BEFORE).values()
    assert problem.allowed == "p5"


def test_more_blocks_than_a_queue_of_batch_can_use_are_refused():
    more = {
        name: reservation(f"cr-0cb0000000000000{number}", CHANGE + number * WEEK, "us-west-2b")
        for number, name in enumerate(("second", "third"), 1)
    }
    found = refusals(batch("next", "second", "third", **more), now=BEFORE)
    problem = found["architecture.compute_environments.p5.further_blocks"]
    assert "at most 3 compute environments" in problem.problem
