"""The steps of a repair in a cluster that answers as Kubernetes and Auto Scaling do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from kubernetes.client import ApiException

from tests.support.bad_nodes import BLOCK, block, group, node
from trainyard.cli import failures
from trainyard.components import clock
from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.repair.decision import Group, Node
from trainyard.repair.journal import Journal
from trainyard.repair.node_replacement import NodeReplacement
from trainyard.repair.nodes import RunningPod
from trainyard.schedulers.job_wait import POLL_SECONDS, JobWait

POD = RunningPod(namespace="default", name="train-0", uid="u", owner="Job train")


@dataclass
class World:
    """A group of nodes in a full Capacity Block, as both the API server and the account see it."""

    nodes: list[Node]
    at_once: int = 1
    pods_of: dict[str, list[RunningPod]] = field(default_factory=dict[str, "list[RunningPod]"])
    budgets: int = 0
    """How many evictions a PodDisruptionBudget refuses."""
    ending_polls: int = 0
    """For how many polls an evicted pod is there."""
    launch_polls: int | None = 2
    """Polls until a replacement is Ready; None for never."""
    use: ReservationUse = field(default_factory=lambda: block(ends_at=None))
    inside: bool = True
    outside: tuple[str, ...] = ()
    """Instances that run outside of the block."""
    lost_answers: int = 0
    error: Exception = field(
        default_factory=lambda: ApiException(status=503, reason="Service Unavailable")
    )
    """In place of an answer that is lost."""
    steps: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    _leaving: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self._desired = len(self.nodes)

    # Nodes

    def all(self, *, now: object) -> tuple[Node, ...]:
        if self.lost_answers:
            self.lost_answers -= 1
            raise self.error
        return tuple(self.nodes)

    def pods(self, name: str) -> list[RunningPod]:
        return list(self.pods_of.get(name, []))

    def begin(self, name: str, at: object) -> None:
        self.steps.append(f"cordon {name}")
        self.nodes = [replace(n, has_begun=n.name == name or n.has_begun) for n in self.nodes]

    def evict(self, pod: RunningPod) -> str:
        if self.budgets:
            self.budgets -= 1
            return "a PodDisruptionBudget does not allow its eviction"
        self.steps.append(f"evict {pod.name}")
        if self.ending_polls:
            self.ending_polls -= 1
        else:
            self.pods_of = {k: [p for p in v if p != pod] for k, v in self.pods_of.items()}
        return ""

    def record(self, node: Node, reason: str, message: str, at: object, *, bad: bool) -> None:
        self.steps.append(f"{reason} {node.name}")

    # Account

    def groups(self, *_: object) -> tuple[Group, ...]:
        states = dict.fromkeys((n.instance_id for n in self.nodes), "InService")
        states |= dict.fromkeys(self._leaving, "Terminating:Wait")
        inside = {n.instance_id: BLOCK for n in self.nodes if self.inside or "new" not in n.name}
        inside = {each: BLOCK for each in inside if each not in self.outside}
        made = group(*self.nodes, at_once=self.at_once, desired=self._desired, instances=states)
        return (replace(made, reservation_of=inside),)

    def reservations(self, _: object) -> dict[str, ReservationUse]:
        return {BLOCK: self.use}

    def terminate(self, instance_id: str) -> None:
        self.steps.append(f"terminate {instance_id}")
        self._leaving[instance_id] = self.launch_polls or 0
        self.nodes = [n for n in self.nodes if n.instance_id != instance_id]

    def refusal(self, _: Group) -> str:
        return "Could not launch On-Demand Instances. ReservationCapacityExceeded"

    # Clock

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        if self.launch_polls is None:
            return
        for instance_id, polls in list(self._leaving.items()):
            self._leaving[instance_id] = polls - 1
            if polls <= 1:
                del self._leaving[instance_id]
                self.nodes.append(node(0, name=f"new-{instance_id}", instance_id=f"{instance_id}x"))

    @property
    def done(self) -> list[str]:
        return [step for step in self.steps if not step.startswith("Repair")]


def repair(world: World, path: Path, named: str | None = None) -> NodeReplacement:
    both: Any = world
    return NodeReplacement(
        nodes=both,
        account=both,
        plans=(),
        outputs={},
        named=named,
        journal=Journal(path / "repair.jsonl"),
        drain_limit_minutes=15,
        wait=JobWait(pause=world.pause, now=lambda: world.seconds),
    )


def run(world: World, path: Path, named: str | None = None) -> None:
    made = repair(world, path, named)
    decision = made.decide(made.look())
    made.replace((*decision.now, *decision.later))


def test_a_node_is_cordoned_drained_terminated_and_replaced_in_this_order(tmp_path: Path) -> None:
    world = World([node(1), node(2, bad=True)], pods_of={"n2": [POD]})
    run(world, tmp_path)
    assert world.done == ["cordon n2", "evict train-0", "terminate i-2"]
    assert [step for step in world.steps if step.startswith("Repair")] == [
        *(f"Repair{step} n2" for step in ("Began", "Drained", "Terminated")),
        "RepairReplaced new-i-2",
    ]


def test_every_step_is_in_the_log(tmp_path: Path) -> None:
    run(World([node(1), node(2, bad=True)]), tmp_path)
    run(World([node(1, bad=True), node(2)]), tmp_path)
    path = tmp_path / "repair.jsonl"
    steps = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [each["step"] for each in steps][:4] == [
        *("RepairBegan", "RepairDrained", "RepairTerminated", "RepairReplaced")
    ]
    assert len(steps) == 8
    assert steps[0]["message"].startswith("cordoned, because AcceleratedHardwareReady is False")
    assert {each["node_group"] for each in steps} == {"p5"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_next_node_waits_until_the_previous_one_is_replaced(tmp_path: Path) -> None:
    world = World([node(1, bad=True), node(2, bad=True)])
    run(world, tmp_path)
    assert world.done == ["cordon n1", "terminate i-1", "cordon n2", "terminate i-2"]
    assert world.steps.index("RepairReplaced new-i-1") < world.steps.index("cordon n2")


def test_a_group_can_allow_two_at_a_time(tmp_path: Path) -> None:
    world = World([node(number, bad=True) for number in (1, 2, 3)], at_once=2)
    run(world, tmp_path)
    assert world.done[:4] == ["cordon n1", "cordon n2", "terminate i-1", "terminate i-2"]
    assert world.done[4:] == ["cordon n3", "terminate i-3"]


def test_a_pod_has_time_to_end_before_the_termination(tmp_path: Path) -> None:
    world = World([node(1, bad=True)], pods_of={"n1": [POD]}, ending_polls=3)
    run(world, tmp_path)
    assert world.done == ["cordon n1", *4 * ["evict train-0"], "terminate i-1"]


def test_a_kubelet_that_is_gone_does_not_confirm_the_end_of_pods(tmp_path: Path) -> None:
    gone = node(1, bad=True, is_ready=False)
    world = World([gone], pods_of={"n1": [POD]}, ending_polls=10_000)
    run(world, tmp_path)
    assert world.done == ["cordon n1", "evict train-0", "terminate i-1"]


def test_a_disruption_budget_is_waited_for(tmp_path: Path) -> None:
    world = World([node(1, bad=True)], pods_of={"n1": [POD]}, budgets=5)
    run(world, tmp_path)
    assert world.done == ["cordon n1", "evict train-0", "terminate i-1"]
    assert world.seconds >= 5 * POLL_SECONDS


def test_a_node_that_cannot_be_drained_is_not_terminated(tmp_path: Path) -> None:
    world = World([node(1, bad=True)], pods_of={"n1": [POD]}, budgets=10_000)
    with pytest.raises(failures.CommandError, match="not drained after 15 minutes") as caught:
        run(world, tmp_path)
    assert world.done == ["cordon n1"]
    assert world.steps[-1] == "RepairStopped n1"
    assert "kubectl uncordon NODE" in str(caught.value)
    log = (tmp_path / "repair.jsonl").read_text(encoding="utf-8")
    assert "default/train-0, of Job train: a PodDisruptionBudget" in log
    world.budgets = 0
    run(world, tmp_path)
    assert world.done[1:] == ["cordon n1", "evict train-0", "terminate i-1"]


def test_without_a_replacement_the_reason_of_ec2_is_said(tmp_path: Path, capsys) -> None:
    world = World([node(1), node(2, bad=True)], launch_polls=None)
    world._leaving.clear()
    with pytest.raises(failures.CommandError, match="after 30 minutes, node group p5"):
        run(world, tmp_path)
    assert world.seconds == 30 * 60
    world._leaving.clear()
    made = repair(world, tmp_path)
    with pytest.raises(failures.CommandError, match="ReservationCapacityExceeded"):
        made.await_replacements({"p5"}, ())
    assert capsys.readouterr().err.count("ReservationCapacityExceeded") == 1


def test_after_an_interruption_the_next_node_waits_for_the_missing_one(tmp_path: Path) -> None:
    world = World([node(1), node(2), node(3, bad=True)])
    world.terminate("i-1")
    run(world, tmp_path)
    assert world.steps.index("cordon n3") > 0
    assert world.seconds > 2 * POLL_SECONDS
    assert world.done == ["terminate i-1", "cordon n3", "terminate i-3"]


def test_a_reservation_that_ends_meanwhile_stops_the_repair(tmp_path: Path) -> None:
    world = World([node(1, bad=True), node(2, bad=True)])
    made = repair(world, tmp_path)
    decision = made.decide(made.look())
    world.use = block(ends_at=clock.now() + timedelta(minutes=5))
    with pytest.raises(failures.CommandError, match="ends in less than"):
        made.replace((*decision.now, *decision.later))
    assert world.done == []


def test_a_replacement_outside_of_the_reservation_is_a_failure(tmp_path: Path) -> None:
    world = World([node(1, bad=True)], inside=False)
    with pytest.raises(failures.CommandError, match="outside of the reservation"):
        run(world, tmp_path)


def test_a_node_that_has_become_good_stays(tmp_path: Path) -> None:
    world = World([node(1, bad=True)])
    made = repair(world, tmp_path)
    decision = made.decide(made.look())
    world.nodes = [node(1)]
    made.replace(decision.now)
    assert world.steps == []


def test_a_node_that_becomes_bad_meanwhile_is_left_to_the_next_repair(tmp_path: Path) -> None:
    """The user has confirmed the others."""
    world = World([node(1), node(2, bad=True)], at_once=2)
    made = repair(world, tmp_path)
    decision = made.decide(made.look())
    world.nodes[0] = node(1, bad=True)
    made.replace(decision.now)
    assert world.done == ["cordon n2", "terminate i-2"]


def test_a_node_that_cannot_be_replaced_does_not_keep_another_from_it(tmp_path: Path) -> None:
    world = World([node(1, bad=True), node(2, bad=True)], outside=("i-1",))
    made = repair(world, tmp_path)
    decision = made.decide(made.look())
    assert [each.node.name for each in decision.refused] == ["n1"]
    made.replace(decision.now)
    assert world.done == ["cordon n2", "terminate i-2"]


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}}, "DescribeAutoScalingGroups")


@pytest.mark.parametrize(
    "error",
    [
        ApiException(status=503, reason="Service Unavailable"),
        refused("ThrottlingException"),
        EndpointConnectionError(endpoint_url="https://ec2"),
    ],
)
def test_an_answer_that_is_lost_does_not_end_the_repair(tmp_path: Path, error: Exception) -> None:
    world = World([node(1, bad=True)], lost_answers=4, error=error)
    run(world, tmp_path)
    assert world.done == ["cordon n1", "terminate i-1"]


def test_a_denied_request_is_not_repeated(tmp_path: Path) -> None:
    world = World([node(1, bad=True)], lost_answers=1, error=refused("AccessDenied"))
    with pytest.raises(ClientError):
        run(world, tmp_path)
    assert world.seconds == 0


def test_an_event_that_is_refused_does_not_end_the_repair(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ApiException(status=403, reason="Forbidden")

    monkeypatch.setattr(World, "record", refuse)
    run(world := World([node(1, bad=True)]), tmp_path)
    assert world.done == ["cordon n1", "terminate i-1"]


@pytest.mark.parametrize(("name", "words"), [("n9", "nodes: n1, n2"), ("n2", "no node group")])
def test_an_unknown_node_is_refused(tmp_path: Path, name: str, words: str) -> None:
    world = World([node(1), node(2)])
    made = repair(world, tmp_path, named=name)
    seen = made.look()
    only = replace(seen.groups[0], instances={"i-1": "InService"}, desired=1)
    with pytest.raises(failures.WrongUseError, match=words):
        made.decide(replace(seen, groups=(only,)))
