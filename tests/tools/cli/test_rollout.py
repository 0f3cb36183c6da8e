"""A cluster is up when nodes are Ready and device plugins run, not when nothing is wanted."""

from __future__ import annotations

import pytest

from tools.cli.rollout import (
    ClusterState,
    DaemonSetState,
    Expected,
    NodeState,
    expected_of,
)

P5 = "p5.48xlarge"
DEVICES = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}
EXPECTED = Expected(
    nodes={"c5.2xlarge": 1, P5: 2},
    daemon_sets=("nvidia-device-plugin-daemonset",),
    with_devices=frozenset({P5}),
)


def node(name: str, instance_type: str = P5, *, ready: bool = True, bare: bool = False):
    return NodeState(name, instance_type, ready, {} if bare else DEVICES)


def cluster(*nodes: NodeState, desired: int = 2, running: int = 2) -> ClusterState:
    system = NodeState("system", "c5.2xlarge", ready=True, devices={})
    plugin = DaemonSetState("nvidia-device-plugin-daemonset", desired, running)
    return ClusterState((system, *nodes), (plugin,), ())


def test_nothing_is_missing_when_every_node_and_plugin_is_there() -> None:
    assert cluster(node("a"), node("b")).missing(EXPECTED) == []


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        pytest.param(
            cluster(node("a"), desired=1, running=1),
            ["1 of 2 p5.48xlarge nodes are Ready"],
            id="a-node-did-not-join",
        ),
        pytest.param(
            cluster(node("a"), node("b", ready=False)),
            ["1 of 2 p5.48xlarge nodes are Ready"],
            id="a-node-is-not-ready",
        ),
        pytest.param(
            cluster(node("a"), node("b", bare=True)),
            ["b offers no devices"],
            id="a-node-without-devices",
        ),
        pytest.param(
            cluster(node("a"), node("b"), desired=0, running=0),
            ["DaemonSet nvidia-device-plugin-daemonset: 0 of 0 pods run"],
            id="a-plugin-that-wants-no-pod",
        ),
        pytest.param(
            cluster(node("a"), node("b"), running=1),
            ["DaemonSet nvidia-device-plugin-daemonset: 1 of 2 pods run"],
            id="a-plugin-whose-pod-does-not-run",
        ),
        pytest.param(
            ClusterState(cluster(node("a"), node("b")).nodes, (), ()),
            ["DaemonSet nvidia-device-plugin-daemonset: 0 of 0 pods run"],
            id="a-plugin-that-is-not-there",
        ),
    ],
)
def test_what_is_missing_is_named(state: ClusterState, missing: list[str]) -> None:
    assert state.missing(EXPECTED) == missing


def test_before_a_block_begins_no_accelerated_node_is_missed() -> None:
    waiting = Expected(
        nodes={"c5.2xlarge": 1, P5: 0},
        daemon_sets=("nvidia-device-plugin-daemonset",),
        with_devices=frozenset({P5}),
    )
    assert cluster(desired=0, running=0).missing(waiting) == []


def test_what_is_expected_follows_from_the_outputs() -> None:
    outputs = {
        "node_groups": {
            "system": {"instance_type": "c5.2xlarge", "desired": 1},
            "p5": {"instance_type": P5, "desired": 2},
            "more": {"instance_type": P5, "desired": 1},
        },
        "device_plugins": ["nvidia", "efa"],
    }
    assert expected_of(outputs) == Expected(
        nodes={"c5.2xlarge": 1, P5: 3},
        daemon_sets=("nvidia-device-plugin-daemonset", "aws-efa-k8s-device-plugin"),
        with_devices=frozenset({P5}),
    )


def test_a_stack_without_device_plugins_expects_no_devices() -> None:
    outputs = {"node_groups": {"system": {"instance_type": "c5.2xlarge", "desired": 1}}}
    assert expected_of(outputs).with_devices == frozenset()
