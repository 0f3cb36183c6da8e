"""The allocatable resources of a node, given the plugins that run on it."""

from __future__ import annotations

import pytest

from trainyard.components.catalog.neuron import (
    NEURON_CORE,
    NEURON_DEVICE,
    NEURON_DEVICE_PLUGIN_IMAGE,
)
from trainyard.sandbox.instance_types import instance_type
from trainyard.sandbox.kubernetes.device_plugins import (
    EFA,
    NVIDIA_GPU,
    device_counts,
    ended_without_devices,
    plugin_resources,
)

NVIDIA_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"
EFA_IMAGE = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.31"


def pod(image, node="node-1", phase="Running", **metadata):
    return {
        "metadata": {"name": "plugin", "namespace": "kube-system", **metadata},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": image}]},
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("image", "resource"),
    [
        pytest.param(NVIDIA_IMAGE, NVIDIA_GPU, id="nvidia"),
        pytest.param(EFA_IMAGE, EFA, id="efa"),
        pytest.param(f"{EFA_IMAGE}@sha256:0123", EFA, id="digest"),
        pytest.param("localhost:5000/k8s-device-plugin", NVIDIA_GPU, id="port-no-tag"),
    ],
)
def test_a_plugin_is_known_by_its_image(image, resource):
    assert plugin_resources([pod(image)]) == {"node-1": {resource}}


def test_plugins_count_for_the_node_that_they_run_on():
    pods = [pod(NVIDIA_IMAGE, "a"), pod(EFA_IMAGE, "a"), pod(NVIDIA_IMAGE, "b")]
    assert plugin_resources(pods) == {"a": {NVIDIA_GPU, EFA}, "b": {NVIDIA_GPU}}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(pod("pytorch:2"), id="another-image"),
        pytest.param(pod(NVIDIA_IMAGE, phase="Pending"), id="pending"),
        pytest.param(pod(NVIDIA_IMAGE, node=None), id="not-scheduled"),
        pytest.param(pod(NVIDIA_IMAGE, deletionTimestamp="2026-01-01T00:00:00Z"), id="ending"),
    ],
)
def test_a_pod_that_is_no_running_plugin_offers_nothing(other):
    assert plugin_resources([other]) == {}


def test_gpus_come_from_the_type_and_efa_devices_from_the_instance():
    assert device_counts(instance_type("p5.48xlarge"), 32) == {NVIDIA_GPU: 8, EFA: 32}
    assert device_counts(instance_type("p5.48xlarge"), 4) == {NVIDIA_GPU: 8, EFA: 4}
    assert device_counts(instance_type("c5.2xlarge"), 0) == {NVIDIA_GPU: 0, EFA: 0}


@pytest.mark.parametrize(
    ("name", "devices", "cores"),
    [
        pytest.param("trn1.2xlarge", 1, 2, id="trn1-small"),
        pytest.param("trn1.32xlarge", 16, 32, id="trn1"),
        pytest.param("trn1n.32xlarge", 16, 32, id="trn1n"),
        pytest.param("trn2.48xlarge", 16, 64, id="trn2"),
    ],
)
def test_neuron_devices_are_counted_whole_and_by_their_cores(name, devices, cores):
    counts = device_counts(instance_type(name), 8)
    assert counts == {NVIDIA_GPU: 0, EFA: 8, NEURON_DEVICE: devices, NEURON_CORE: cores}


def test_the_neuron_plugin_offers_devices_and_cores():
    assert plugin_resources([pod(NEURON_DEVICE_PLUGIN_IMAGE)]) == {
        "node-1": {NEURON_DEVICE, NEURON_CORE}
    }


@pytest.mark.parametrize(("image", "reason"), [(EFA_IMAGE, "Completed"), (NVIDIA_IMAGE, "Error")])
def test_a_plugin_on_a_node_without_devices_ends_again_and_again(image, reason):
    """https://github.com/aws/eks-charts/issues/1239"""
    counts = device_counts(instance_type("m5.large"), 0)
    ((_, status),) = ended_without_devices([pod(image)], {"node-1": counts})
    (container,) = status["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["reason"] == reason
    ended = pod(image) | {"status": status}
    assert plugin_resources([ended]) == {}
    assert [*ended_without_devices([ended], {"node-1": counts})] == []


def test_a_plugin_that_finds_a_device_goes_on():
    counts = device_counts(instance_type("g5.8xlarge"), 1)
    pods = [pod(EFA_IMAGE), pod(NVIDIA_IMAGE), pod("pytorch:2"), pod(EFA_IMAGE, "elsewhere")]
    assert [*ended_without_devices(pods, {"node-1": counts})] == []
