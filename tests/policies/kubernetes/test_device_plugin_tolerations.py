"""Plugins of NVIDIA and Neuron on tainted nodes (G8)."""

from __future__ import annotations

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs_eks import eks_template, role, workers
from trainyard.policies.resources.types import DAEMON_SET, HELM_RELEASE
from trainyard.policies.rules.kubernetes.device_plugin_tolerations import POLICY

NVIDIA, NEURON = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", "neuron-device-plugin:2.29"
EFA = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.21"
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
TEAM = {"key": "team", "value": "vision", "effect": "NO_EXECUTE"}
FOR_GPUS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def nodes(*taints, instance_type="p5.48xlarge"):
    return (
        role("node-role"),
        eks_template(),
        workers(instanceTypes=[instance_type], taints=list(taints)),
    )


def daemon_set(*tolerations, image=NVIDIA, name="plugin"):
    pod = {"containers": [{"image": image}], "tolerations": list(tolerations)}
    return Declared(DAEMON_SET, name, {"spec": {"template": {"spec": pod}}})


def release(chart="nvidia-device-plugin", **values):
    return Declared(HELM_RELEASE, "plugin", {"chart": chart, "values": values})


FAULTS = {
    "none": (*nodes(TAINT), daemon_set()),
    "another": (*nodes(TEAM), daemon_set(FOR_GPUS)),
    "another-effect": (
        *nodes({**TAINT, "effect": "NO_EXECUTE"}),
        daemon_set(FOR_GPUS),
    ),
    "neuron": (
        *nodes({**TAINT, "key": "aws.amazon.com/neuron"}, instance_type="trn1.32xlarge"),
        daemon_set(FOR_GPUS, image=NEURON),
    ),
    "chart": (*nodes(TEAM), release()),
    "chart-with-its-own": (*nodes(TAINT), release(tolerations=[{"key": "team"}])),
}
VIOLATING = tuple(FAULTS.values())
RIGHT = {
    "tolerated": (*nodes(TAINT), daemon_set(FOR_GPUS)),
    "everything": (*nodes(TAINT, TEAM), daemon_set({"operator": "Exists"})),
    "tolerated-by-one-of-two": (*nodes(TAINT), daemon_set(name="other"), daemon_set(FOR_GPUS)),
    "no-taint": (*nodes(), daemon_set()),
    "chart": (*nodes(TAINT), release()),
    "no-plugin": nodes(TAINT),
    "no-accelerator": (*nodes(TEAM, instance_type="c5.2xlarge"), daemon_set()),
    "plugin-of-others": (*nodes(TAINT), daemon_set(image=NEURON)),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", FAULTS.values(), ids=FAULTS)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "device plugin does not tolerate the taint" in message
    assert "of workers" in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_the_plugin_of_efa_is_not_taken_for_that_of_nvidia():
    assert check(POLICY, *nodes(TAINT), daemon_set(image=EFA)).messages == []
