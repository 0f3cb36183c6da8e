"""A cluster with every add-on: up, up again, repaired, destroyed, and the account is as before.

The commands run once, in the order of `life`; every test asserts one claim about their results.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.stacks.support.addons_of_a_life import run_job_sets_with_faults, watched_repair
from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from trainyard.diagnosis.pods import why_it_is_queued
from trainyard.schedulers.kubernetes.workloads import Workload, delete_workload, find_workload

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
BAD_MINUTES = 11
"""For this long, a node has a bad GPU."""
TAINT = {"key": "team", "value": "vision", "effect": "NoExecute"}
CHANGES: dict[str, Any] = {
    "architecture.addons": {
        "ebs_csi_driver": True,
        "fsx_csi_driver": True,
        "jobset": True,
        "kueue": True,
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
    reason: str = ""
    """Why the second job waits."""
    jobs: dict[str, dict[str, str]] = field(default_factory=dict[str, "dict[str, str]"])
    """States of the jobs by name, while the first one has the nodes, and after it has ended."""
    kinds: set[str] = field(default_factory=set[str])
    """Kinds of these jobs in Kubernetes."""


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
    _cordon_and_queue(life, sandbox, stack_file, verify)
    life.done |= run_job_sets_with_faults(sandbox, STACK, stack_file)
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
        pods = [
            pod
            for space in ("kube-system", "jobset-system", "kueue-system")
            for pod in core.list_namespaced_pod(space).items
        ]
    for pod in pods:
        owner = pod.metadata.owner_references[0]
        name = owner.name if owner.kind == "DaemonSet" else owner.name.rpartition("-")[0]
        if pod.status.phase == "Running":
            life.pods.setdefault(name, set()).add(life.types[pod.spec.node_name])


def _cordon_and_queue(
    life: Life, sandbox: Sandbox, stack_file: Path, verify: tuple[Any, ...]
) -> None:
    """Submit two jobs for all nodes, on which the first one does not start for a while."""
    stack = (STACK, "--sandbox", "--stack-file", stack_file)
    with sandbox.kubernetes(STACK) as api:
        core: Any = client.CoreV1Api(api)
        _set_schedulable(core, schedulable=False)
        life.done["verify cordoned nodes"] = sandbox.run(*verify)
        for name in ("first", "second"):
            program = ("--detach", "--name", name, "--image", "pytorch/pytorch:2.11.0")
            life.done[name] = sandbox.must("run", *stack, *program, "--", "train.py")
            # Kueue starts jobs of the same second in any order.
            until(lambda: not _workload(api, "first").is_suspended, "first")

        def reason() -> bool:
            life.reason = why_it_is_queued(api, "default", _workload(api, "second").uid)
            return "quota" in life.reason

        until(reason, "Kueue says why the second job waits")
        life.jobs["before"] = _jobs(sandbox, stack)
        _set_schedulable(core, schedulable=True)

        until(lambda: _workload(api, "second").end is not None, "the second job has run")
        life.jobs["after"] = _jobs(sandbox, stack)
        for name in ("first", "second"):
            life.kinds.add(_workload(api, name).kind)
            delete_workload(api, _workload(api, name))
        until(lambda: not core.list_namespaced_pod("default").items, "the pods are gone")


def _workload(api: client.ApiClient, name: str) -> Workload:
    found = find_workload(api, "default", name)
    assert found is not None, name
    return found


def _set_schedulable(core: Any, *, schedulable: bool) -> None:
    for node in _p5(core):
        core.patch_node(node.metadata.name, {"spec": {"unschedulable": not schedulable}})


def _jobs(sandbox: Sandbox, stack: tuple[Any, ...]) -> dict[str, str]:
    listed = json.loads(sandbox.must("jobs", *stack, "--json").stdout)
    return {each["name"]: each["state"] for each in listed}


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
            "lastTransitionTime": (datetime.now(UTC) - timedelta(minutes=BAD_MINUTES)).isoformat(),
        }
        core.patch_node_status(bad, {"status": {"conditions": [lost]}})
        work = {
            "nodeName": bad,
            "containers": [{"name": "work", "image": "registry.k8s.io/pause:3.10"}],
            "tolerations": [{**TAINT, "operator": "Equal"}],
        }
        core.create_namespaced_pod("default", {"metadata": {"name": "work"}, "spec": work})
        life.done["repair"] = watched_repair(sandbox, core, STACK, stack_file)
        life.nodes["after"] = _p5(core)
        assert not core.list_namespaced_pod("default", field_selector="metadata.name=work").items
        events = core.list_namespaced_event("default").items
    life.events = {
        each.reason: each.involved_object.name
        for each in events
        if each.reason.startswith("Repair")
    }


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
    assert life.pods["jobset-controller-manager"] == {"c5.2xlarge"}
    assert life.pods["kueue-controller-manager"] == {"c5.2xlarge"}


def test_a_job_waits_in_the_queue_until_the_quota_has_room(life: Life) -> None:
    """The real controllers of Kueue and JobSet, behind their own webhooks."""
    assert life.kinds == {"JobSet"}
    assert life.jobs["before"] == {"first": "Pending", "second": "Queued"}
    assert (
        "insufficient unused quota for nvidia.com/gpu in flavor p5, 16 more needed" in life.reason
    )
    assert life.jobs["after"] == {"first": "Complete", "second": "Complete"}


def test_all_processes_start_again_when_one_has_failed(life: Life) -> None:
    """The first one is stopped, although it runs."""
    said = life.done["run"]
    assert said.stdout == "train\nfirst attempt\nsecond attempt\n"
    assert "restarted 1 times" in said.stderr
    assert "train has completed" in said.stderr
    assert life.done["logs"].stdout == "second attempt\n"


def test_a_job_fails_with_its_own_exit_code_at_the_limit_of_restarts(life: Life) -> None:
    said = life.done["broken"]
    assert said.exit_code == 7
    assert "ReachedMaxRestarts" in said.stderr
    assert "failed with exit code 7" in said.stderr


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
    assert (said.exit_code, "stopped; the next `repair` continues" in said.stderr) == (0, True)
    bad_since = r"AcceleratedHardwareReady is False for (\d+) min \(NvidiaXID79Error"
    found = re.search(bad_since, said.stdout)
    assert found is not None
    assert int(found[1]) >= BAD_MINUTES  # a busy machine takes longer to look
    assert "evicted: default/work, which nothing starts again" in said.stdout
    assert "Ready as a replacement in cr-0123456789abcdef0" in said.stderr


def test_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.inventory["after"] == life.inventory["before"]


def test_cordoned_nodes_are_not_as_planned(life: Life) -> None:
    answer = json.loads(life.done["verify"].stdout)
    assert answer["passed"] is True
    assert set(answer["versions"]) > {"kernel", "kubelet", "aws-efa-k8s-device-plugin"}
    cordoned = life.done["verify cordoned nodes"]
    assert cordoned.exit_code == 1
    assert "0 of 2 nodes are as planned" in json.loads(cordoned.stdout)["stages"][0]["reason"]
