"""A cluster with every add-on: up, up again, repaired, destroyed, and the account is as before.

The commands run once, in the order of `life`; every test asserts one claim about their results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.support.sandbox import Done, Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
TAINT = {"key": "team", "value": "vision", "effect": "NoExecute"}
CHANGES: dict[str, Any] = {
    "architecture.addons": {
        "ebs_csi_driver": True,
        "fsx_csi_driver": True,
        "node_monitoring_agent": True,
    },
    "architecture.node_groups.p5.taints": [TAINT],
}
EVERYWHERE = {
    "eks-pod-identity-agent",
    "ebs-csi-node",
    "fsx-csi-node",
    "eks-node-monitoring-agent",
}
ON_P5 = {
    "nvidia-device-plugin-daemonset",
    "aws-efa-k8s-device-plugin",
    "aws-node-termination-handler",
    "dcgm-server",
}


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    types: dict[str, str] = field(default_factory=dict[str, str])
    """Instance type by node."""
    pods: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Instance types on which a workload's pods run, by the workload's name."""
    nodes: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    """Nodes of the full Capacity Block before and after the repair."""
    events: dict[str, str] = field(default_factory=dict[str, str])
    """Names of the nodes of the events of the repair, by reason."""


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Run the whole life of the stack, and record its state at every relevant step."""
    life, sandbox = Life(), sandbox.without_preview()
    stack_file = copied_stack_file(tmp_path_factory.mktemp("copies") / "addons.yaml", CHANGES)
    life.inventory["before"] = sandbox.inventory()
    _up(life, sandbox, "up", stack_file)
    _look(life, sandbox)
    verify = ("verify", STACK, "--sandbox", "--stack-file", stack_file, "--inventory", "--json")
    life.done["verify"] = sandbox.must(*verify)
    _set_schedulable(sandbox, schedulable=False)
    life.done["verify a cordoned node"] = sandbox.run(*verify)
    _set_schedulable(sandbox, schedulable=True)
    _up(life, sandbox, "again", stack_file)
    _replace_a_bad_node(life, sandbox, stack_file)
    life.done["destroy"] = sandbox.must("destroy", STACK, "--sandbox", "--yes")
    life.inventory["after"] = sandbox.inventory()
    return life


def _up(life: Life, sandbox: Sandbox, moment: str, stack_file: Path) -> None:
    life.done[moment] = sandbox.must("up", STACK, "--sandbox", "--yes", "--stack-file", stack_file)
    life.changes[moment] = sandbox.resource_changes(STACK)
    life.inventory[moment] = sandbox.inventory()


def _look(life: Life, sandbox: Sandbox) -> None:
    with sandbox.kubernetes(STACK) as api:
        core: Any = client.CoreV1Api(api)  # the answers are typed as unions with raw ones
        for node in core.list_node().items:
            life.types[node.metadata.name] = node.metadata.labels[
                "node.kubernetes.io/instance-type"
            ]
        pods = core.list_namespaced_pod("kube-system").items
    for pod in pods:
        owner = pod.metadata.owner_references[0]
        name = owner.name if owner.kind == "DaemonSet" else owner.name.rpartition("-")[0]
        if pod.status.phase == "Running":
            life.pods.setdefault(name, set()).add(life.types[pod.spec.node_name])


def _replace_a_bad_node(life: Life, sandbox: Sandbox, stack_file: Path) -> None:
    """Let the monitoring agent report a lost GPU on a node with a pod, and repair it."""
    with sandbox.kubernetes(STACK) as api:
        core: Any = client.CoreV1Api(api)
        life.nodes["before"] = _p5(core)
        bad = life.nodes["before"][0].metadata.name
        lost = {
            "type": "AcceleratedHardwareReady",
            "status": "False",
            "reason": "NvidiaXID79Error",
            "message": "GPU has fallen off the bus",
            "lastTransitionTime": (datetime.now(UTC) - timedelta(minutes=11)).isoformat(),
        }
        core.patch_node_status(bad, {"status": {"conditions": [lost]}})
        work = {
            "nodeName": bad,
            "containers": [{"name": "work", "image": "registry.k8s.io/pause:3.10"}],
            "tolerations": [{**TAINT, "operator": "Equal"}],
        }
        core.create_namespaced_pod("default", {"metadata": {"name": "work"}, "spec": work})
        arguments = ("--yes", "--stack-file", stack_file)
        life.done["repair"] = sandbox.must("repair", STACK, "--sandbox", *arguments)
        life.nodes["after"] = _p5(core)
        assert core.list_namespaced_pod("default").items == []
        events = core.list_namespaced_event("default").items
    life.events = {
        each.reason: each.involved_object.name
        for each in events
        if each.reason.startswith("Repair")
    }


def _set_schedulable(sandbox: Sandbox, *, schedulable: bool) -> None:
    with sandbox.kubernetes(STACK) as api:
        core: Any = client.CoreV1Api(api)
        node = _p5(core)[0].metadata.name
        core.patch_node(node, {"spec": {"unschedulable": not schedulable}})


def _p5(core: Any) -> list[Any]:
    selector = "node.kubernetes.io/instance-type=p5.48xlarge"
    return core.list_node(label_selector=selector).items


def test_up_ends_with_every_plugin_on_every_node_of_its_groups(life: Life) -> None:
    """They tolerate the taint of the group."""
    assert sorted(life.types.values()) == ["c5.2xlarge", "p5.48xlarge", "p5.48xlarge"]
    for name in EVERYWHERE:
        assert life.pods[name] == {"c5.2xlarge", "p5.48xlarge"}, name
    for name in ON_P5:
        assert life.pods[name] == {"p5.48xlarge"}, name


def test_controllers_keep_off_the_nodes_of_the_work(life: Life) -> None:
    """If the add-on can be configured: that of FSx accepts no affinity, and runs anywhere."""
    assert life.pods["ebs-csi-controller"] == {"c5.2xlarge"}
    assert life.pods["fsx-csi-controller"]


def test_each_driver_has_a_role_through_the_agent(life: Life) -> None:
    """EKS-15."""
    associations = [
        line for line in life.inventory["up"] if line.startswith("eks:pod-identity-association")
    ]
    assert len(associations) == 2
    for account in ("ebs-csi-controller-sa", "fsx-csi-controller-sa"):
        assert any(f"p5-cb/kube-system/{account}" in line for line in associations)


def test_auto_scaling_waits_for_the_drain(life: Life) -> None:
    """EKN-16."""
    hooks = [line for line in life.inventory["up"] if line.startswith("autoscaling:lifecycle-hook")]
    assert len(hooks) == 1
    assert "drain-before-termination" in hooks[0]


def test_a_second_up_changes_nothing(life: Life) -> None:
    assert set(life.changes["again"]) == {"same"}


def test_a_bad_node_is_replaced_inside_the_full_block(life: Life) -> None:
    bad, kept = (node.spec.provider_id for node in life.nodes["before"])
    after = life.nodes["after"]
    ids = {node.spec.provider_id for node in after}
    assert len(ids) == 2
    assert kept in ids
    assert bad not in ids
    for node in after:
        assert not node.spec.unschedulable
        assert any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)


def test_every_step_of_the_repair_is_said_and_an_event(life: Life) -> None:
    bad = life.nodes["before"][0].metadata.name
    steps = ["RepairBegan", "RepairDrained", "RepairTerminated", "RepairReplaced"]
    assert sorted(life.events) == sorted(steps)
    assert {life.events[step] for step in steps[:3]} == {bad}
    said = life.done["repair"]
    assert "AcceleratedHardwareReady is False for 11 min (NvidiaXID79Error" in said.stdout
    assert "evicted: default/work, which nothing starts again" in said.stdout
    assert "Ready as a replacement in cr-0123456789abcdef0" in said.stderr


def test_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.inventory["after"] == life.inventory["before"]


def test_a_cordoned_node_is_not_as_planned(life: Life) -> None:
    answer = json.loads(life.done["verify"].stdout)
    assert answer["passed"] is True
    assert set(answer["versions"]) > {"kernel", "kubelet", "aws-efa-k8s-device-plugin"}
    cordoned = life.done["verify a cordoned node"]
    assert cordoned.exit_code == 1
    assert "1 of 2 nodes are as planned" in json.loads(cordoned.stdout)["stages"][0]["reason"]
