"""A cluster is up when nodes are Ready and every plugin runs on them, not when none is desired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainyard.diagnosis.rollout import ClusterState, GroupExpectation, NodeState

P5 = "p5.48xlarge"
NVIDIA, HANDLER = "nvidia-device-plugin-daemonset", "aws-node-termination-handler"
DEVICES = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}
SYSTEM = GroupExpectation("system", "c5.2xlarge", "p5-cb-system", 1, {}, ())
GROUP = GroupExpectation(
    "p5", P5, None, 2, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}, (NVIDIA, HANDLER)
)
BOTH = frozenset({"a", "b"})


def node(name: str, **change: object) -> NodeState:
    return replace(NodeState(name, P5, ready=True, devices=DEVICES), **change)


def cluster(*nodes: NodeState, **running: frozenset[str]) -> ClusterState:
    system = NodeState("s", "c5.2xlarge", ready=True, devices={}, node_group="p5-cb-system")
    runs = {NVIDIA: running.get("nvidia", BOTH), HANDLER: running.get("handler", BOTH)}
    return ClusterState((system, *nodes), (), (), runs)


def test_nothing_is_missing_when_every_node_and_plugin_is_there() -> None:
    assert cluster(node("a"), node("b")).missing((SYSTEM, GROUP)) == []


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        pytest.param(
            cluster(node("a")),
            ["node group p5: 1 of 2 p5.48xlarge nodes are Ready"],
            id="a-node-did-not-join",
        ),
        pytest.param(
            cluster(node("a"), node("b", ready=False)),
            ["node group p5: 1 of 2 p5.48xlarge nodes are Ready"],
            id="a-node-is-not-ready",
        ),
        pytest.param(
            cluster(node("a"), node("b", node_group="somebody-elses")),
            ["node group p5: 1 of 2 p5.48xlarge nodes are Ready"],
            id="a-node-of-another-group",
        ),
        pytest.param(
            cluster(node("a"), node("b", devices={**DEVICES, "nvidia.com/gpu": "7"})),
            ["node group p5: b has 7 of 8 nvidia.com/gpu"],
            id="a-node-with-a-broken-gpu",
        ),
        pytest.param(
            cluster(node("a"), node("b", devices={"nvidia.com/gpu": "8"})),
            ["node group p5: b has 0 of 32 vpc.amazonaws.com/efa"],
            id="a-node-without-efa",
        ),
        pytest.param(
            cluster(node("a"), node("b"), nvidia=frozenset({"a"})),
            [f"node group p5: no pod of DaemonSet {NVIDIA} runs on b"],
            id="a-plugin-that-runs-on-one-node-only",
        ),
        pytest.param(
            cluster(node("a"), node("b"), handler=frozenset()),
            [f"node group p5: no pod of DaemonSet {HANDLER} runs on a, b"],
            id="a-plugin-that-wants-no-pod",
        ),
        pytest.param(
            replace(cluster(node("a"), node("b")), running_on={}),
            [
                f"node group p5: no pod of DaemonSet {NVIDIA} runs on a, b",
                f"node group p5: no pod of DaemonSet {HANDLER} runs on a, b",
            ],
            id="plugins-that-are-not-there",
        ),
    ],
)
def test_what_is_missing_is_named(state: ClusterState, missing: list[str]) -> None:
    assert state.missing((SYSTEM, GROUP)) == missing


def test_before_a_block_begins_no_accelerated_node_is_missed() -> None:
    waiting = replace(GROUP, nodes=0)
    assert cluster(nvidia=frozenset(), handler=frozenset()).missing((SYSTEM, waiting)) == []


def test_a_node_beyond_the_number_wanted_needs_its_plugins_too() -> None:
    found = cluster(node("a"), node("b"), node("c")).missing((GROUP,))
    assert f"node group p5: no pod of DaemonSet {NVIDIA} runs on c" in found
