"""The nodes in Kubernetes and Slurm, compared with the plan."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.eks import eks_plan, nodes_of
from tests.support.parallelcluster import p4de_plan
from trainyard.jobs.nodes import JobRequest, choose_nodes
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
from trainyard.verify.inventory import (
    SHOW_NODES,
    Inventory,
    kubernetes_inventory,
    node_selector,
    slurm_inventory,
)

PLAN = eks_plan(nodes_of("p5.48xlarge"))
CHOSEN = choose_nodes(PLAN, "nvidia", JobRequest())
KUBELET = CHOSEN.group.ami_release_version.partition("-")[0]
DEVICES = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "42242Mi"}
READY = {"type": "Ready", "status": "True"}


def node(name: str, **changes: Any) -> dict[str, Any]:
    """Return a node as the API server returns it."""
    values = {"devices": {}, "ready": READY, "spec": {}, "kubelet": KUBELET, **changes}
    return {
        "metadata": {
            "name": name,
            "labels": {"eks.amazonaws.com/nodegroup-image": "ami-0123456789abcdef0"},
        },
        "spec": values["spec"],
        "status": {
            "conditions": [{"type": "MemoryPressure", "status": "False"}, values["ready"]],
            "allocatable": {"cpu": "191450m", **DEVICES, **values["devices"]},
            "nodeInfo": {
                "kernelVersion": values.get("kernel", "6.12.46-66.121.amzn2023.x86_64"),
                "osImage": "Amazon Linux 2023.9.20250929",
                "kubeletVersion": f"v{values['kubelet']}-eks-113cf36",
                "containerRuntimeVersion": "containerd://2.1.4",
            },
        },
    }


def plugin(on: str, tag: str) -> dict[str, Any]:
    owner = {"kind": "DaemonSet", "name": "aws-efa-k8s-device-plugin"}
    image = f"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:{tag}"
    return {
        "metadata": {"name": f"plugin-{on}", "ownerReferences": [owner]},
        "spec": {"nodeName": on, "containers": [{"image": image}]},
    }


def inventory(*found: Mapping[str, Any], pods: tuple[Any, ...] = ()) -> Inventory:
    return kubernetes_inventory(PLAN, CHOSEN, found, pods)


def test_nodes_as_planned_pass() -> None:
    stage = inventory(node("a"), node("b")).stage
    assert stage.result == "pass"
    assert stage.reason == (
        "2 of 2 nodes are as planned, with 8 nvidia.com/gpu, 32 vpc.amazonaws.com/efa, 5120 MiB of "
        "hugepages-2Mi"
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"ready": {"type": "Ready", "status": "False", "message": "runtime network not ready"}},
            "b is not Ready (runtime network not ready)",
        ),
        ({"ready": {"type": "DiskPressure", "status": "False"}}, "b is not Ready (the kubelet has"),
        ({"spec": {"unschedulable": True}}, "b is cordoned"),
        ({"devices": {"nvidia.com/gpu": "7"}}, "b has 7 nvidia.com/gpu instead of 8"),
        ({"devices": {"vpc.amazonaws.com/efa": "0"}}, "b has 0 vpc.amazonaws.com/efa instead of"),
        ({"devices": {"hugepages-2Mi": "0"}}, "b has 0 MiB of hugepages-2Mi instead of 5120 MiB"),
        ({"kubelet": "1.30.0"}, f"b runs kubelet 1.30.0, and the planned AMI has {KUBELET}"),
    ],
)
def test_a_node_that_is_not_as_planned_is_named(changes: dict[str, Any], says: str) -> None:
    stage = inventory(node("a"), node("b", **changes)).stage
    assert stage.result == "fail"
    assert stage.reason.startswith("1 of 2 nodes are as planned")
    assert says in stage.reason


def test_missing_nodes_fail() -> None:
    assert inventory(node("a")).stage.reason.startswith("1 of 2 nodes are as planned")
    assert inventory().stage.result == "fail"


def test_enough_good_nodes_are_enough() -> None:
    stage = inventory(node("a"), node("b"), node("c", spec={"unschedulable": True})).stage
    assert stage.result == "pass"
    assert stage.reason.endswith("hugepages-2Mi: c is cordoned")


def test_the_versions_are_those_of_the_nodes_and_their_plugins() -> None:
    pods = (plugin("a", "v0.5.6"), plugin("b", "v0.5.7"), plugin("of-another-group", "v0.5.8"))
    found = inventory(node("a"), node("b", kernel="6.1.0"), pods=pods).versions
    assert found["kernel"] == {"a": "6.12.46-66.121.amzn2023.x86_64", "b": "6.1.0"}
    assert found["AMI"]["a"] == "ami-0123456789abcdef0"
    assert found["aws-efa-k8s-device-plugin"] == {"a": "v0.5.6", "b": "v0.5.7"}


def test_the_nodes_are_those_that_a_job_can_run_on() -> None:
    assert "node.kubernetes.io/instance-type=p5.48xlarge" in node_selector(CHOSEN)


SLURM = choose_slurm_nodes(p4de_plan(), "nvidia", SlurmRequest(nodes=1))
QUEUE, RESOURCE = SLURM.queue.name, SLURM.resource.name
NOT_RESPONDING = " Reason=Not responding [slurm@2026-11-24T10:00:00] InstanceId=i-0123"


def slurm_node(name: str, state: str, **changes: str) -> str:
    """Return a line of `scontrol --oneliner show nodes` of Slurm 24.05."""
    values = {"kind": "dynamic", "gres": "gpu:a100:8", "partition": QUEUE, "more": "", **changes}
    features = f"{values['kind']},p4de.24xlarge,{RESOURCE},efa,gpu"
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=96 CPUTot=96 "
        f"CPULoad=0.19 AvailableFeatures={features} ActiveFeatures={features} "
        f"Gres={values['gres']} NodeAddr=10.0.0.1 NodeHostName={name} Version=24.05.2 "
        f"State={state} ThreadsPerCore=1 Partitions={values['partition']}  "
        f"CfgTRES=cpu=96,mem=1120665M,billing=96{values['more']}\n"
    )


def shown(text: str) -> str:
    """Return what the script prints, if `scontrol` prints this."""
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-c", f"scontrol() {{ cat; }}\n{SHOW_NODES}"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (slurm_node("n-1", "IDLE+CLOUD"), ""),
        (slurm_node("n-1", "IDLE+CLOUD+POWERED_DOWN"), ""),
        (slurm_node("n-1", "MIXED+CLOUD+NOT_RESPONDING+POWERING_UP"), ""),
        (
            slurm_node("n-1", "DOWN+CLOUD+NOT_RESPONDING", more=NOT_RESPONDING),
            "n-1 is DOWN+CLOUD+NOT_RESPONDING (Not responding)",
        ),
        (
            slurm_node("n-1", "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING"),
            "n-1 is IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING",
        ),
        (slurm_node("n-1", "IDLE+CLOUD+DRAIN"), "n-1 is IDLE+CLOUD+DRAIN"),
        (
            slurm_node("n-1", "IDLE+CLOUD+POWERED_DOWN", kind="static"),
            "n-1 is IDLE+CLOUD+POWERED_DOWN",
        ),
        (slurm_node("n-1", "IDLE+CLOUD", gres="(null)"), "n-1 has 0 GPUs in GRES instead of 8"),
        (slurm_node("n-1", "IDLE+CLOUD", gres="gpu:a100:7(S:0-1)"), "n-1 has 7 GPUs in GRES"),
        (slurm_node("n-1", "IDLE+CLOUD", partition="other"), "0 of 1 nodes are as planned"),
    ],
)
def test_the_state_of_a_node_in_slurm_is_judged(line: str, says: str) -> None:
    stage = slurm_inventory(SLURM, shown(line)).stage
    assert stage.result == ("fail" if says else "pass"), stage.reason
    assert says in stage.reason


def test_many_nodes_fit_into_an_answer_of_systems_manager() -> None:
    nodes = "".join(slurm_node(f"queue-dy-p4de-{n}", "IDLE+CLOUD+POWERED_DOWN") for n in range(500))
    said = shown(nodes)
    assert len(nodes) > 200_000
    assert len(said) < 24_000
    assert "500 of 500 nodes" in slurm_inventory(SLURM, said).stage.reason
