"""The expected state of a cluster follows from the outputs of its stack."""

from __future__ import annotations

from typing import Any

from trainyard.diagnosis.rollout import GroupExpectation, expected_of

P5 = "p5.48xlarge"
DEVICES = {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}
SYSTEM = {"instance_type": "c5.2xlarge", "desired": 1, "node_group": "p5-cb-system", "devices": {}}
SELF_MANAGED = {
    "instance_type": P5,
    "desired": 2,
    "autoscaling_group": "p5-cb-p5",
    "devices": DEVICES,
}
NVIDIA, EFA = "nvidia-device-plugin-daemonset", "aws-efa-k8s-device-plugin"


def expected(**outputs: Any) -> dict[str, GroupExpectation]:
    return {group.name: group for group in expected_of(outputs)}


def test_every_group_has_its_nodes_devices_and_plugins() -> None:
    found = expected(node_groups={"system": SYSTEM, "p5": SELF_MANAGED})
    assert found["system"] == GroupExpectation("system", "c5.2xlarge", "p5-cb-system", 1, {}, ())
    assert found["p5"] == GroupExpectation("p5", P5, None, 2, DEVICES, (NVIDIA, EFA))


def test_addons_run_on_every_node_and_the_handler_where_it_drains() -> None:
    found = expected(
        node_groups={"system": SYSTEM, "p5": SELF_MANAGED},
        addons={
            "eks-pod-identity-agent": "v1",
            "aws-ebs-csi-driver": "v1",
            "aws-fsx-csi-driver": "v1",
            "eks-node-monitoring-agent": "v1",
        },
        drained_node_groups=["p5"],
    )
    everywhere = (
        "eks-pod-identity-agent",
        "ebs-csi-node",
        "fsx-csi-node",
        "eks-node-monitoring-agent",
    )
    assert found["system"].daemon_sets == everywhere
    assert found["p5"].daemon_sets == (
        NVIDIA,
        EFA,
        "aws-node-termination-handler",
        *everywhere,
        "dcgm-server",
    )


def test_neuron_devices_and_cores_come_from_one_plugin() -> None:
    trn1 = {
        **SELF_MANAGED,
        "instance_type": "trn1.32xlarge",
        "devices": {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 32},
    }
    assert expected(node_groups={"trn1": trn1})["trn1"].daemon_sets == ("neuron-device-plugin",)


def test_self_managed_groups_of_one_type_are_counted_together() -> None:
    """Their nodes have no attribute that tells them apart."""
    without_efa = {**SELF_MANAGED, "desired": 1, "devices": {"nvidia.com/gpu": 8}}
    found = expected(node_groups={"p5": SELF_MANAGED, "more": without_efa})
    assert found == {
        "p5, more": GroupExpectation("p5, more", P5, None, 3, {"nvidia.com/gpu": 8}, (NVIDIA,))
    }


def test_a_managed_group_beside_them_stands_alone() -> None:
    managed = {**SELF_MANAGED, "node_group": "p5-cb-managed"}
    assert list(expected(node_groups={"p5": SELF_MANAGED, "managed": managed})) == ["p5", "managed"]


def test_a_stack_without_device_plugins_expects_no_devices() -> None:
    (group,) = expected_of({"node_groups": {"system": SYSTEM}})
    assert (group.devices, group.daemon_sets) == ({}, ())
