"""The Node that an instance's kubelet registers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainyard.sandbox.instance_types import instance_type
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import (
    ManagedGroup,
    NodeConfig,
    Taint,
    build_node,
    classic_maximum_pods,
    reserved_millicores,
)

P5 = Instance(
    instance_id="i-0123456789abcdef0",
    instance_type="p5.48xlarge",
    image_id="ami-0123456789abcdef0",
    region="us-west-2",
    availability_zone="us-west-2b",
    zone_id="usw2-az1",
    private_dns_name="ip-10-0-1-2.us-west-2.compute.internal",
    private_ip_address="10.0.1.2",
    efa_interfaces=32,
    security_group_ids=("sg-0123456789abcdef0",),
    instance_profile="p5-node",
    root_volume_gib=500,
    user_data=b"",
    tags={},
)
CONFIG = NodeConfig(
    labels=(("trainyard/node-group", "p5"),),
    taints=(Taint("nvidia.com/gpu", "present", "NoSchedule"),),
    maximum_pods=49,
    local_storage="RAID0",
)


def node(instance=P5, config=CONFIG, group=None):
    return build_node(instance, instance_type(instance.instance_type), config, group)


def test_a_node_is_named_and_identified_as_its_instance():
    assert node()["metadata"]["name"] == "ip-10-0-1-2.us-west-2.compute.internal"
    assert node()["spec"]["providerID"] == "aws:///us-west-2b/i-0123456789abcdef0"
    assert node()["status"]["addresses"][0] == {"type": "InternalIP", "address": "10.0.1.2"}


def test_labels_say_where_and_what_the_instance_is():
    labels = node()["metadata"]["labels"]
    assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert labels["topology.kubernetes.io/zone"] == "us-west-2b"
    assert labels["topology.kubernetes.io/region"] == "us-west-2"
    assert labels["topology.k8s.aws/zone-id"] == "usw2-az1"
    assert labels["kubernetes.io/arch"] == "amd64"
    assert labels["trainyard/node-group"] == "p5"
    assert "eks.amazonaws.com/nodegroup" not in labels


def test_a_managed_group_adds_its_labels_and_taints_and_the_flags_win():
    group = ManagedGroup(
        name="system",
        capacity_type="ON_DEMAND",
        labels={"trainyard/node-group": "group", "role": "system"},
        taints=(Taint("CriticalAddonsOnly", "true", "NoSchedule"),),
        role_arn="arn:aws:iam::123456789012:role/system",
    )
    made = node(group=group)
    labels = made["metadata"]["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == "system"
    assert labels["eks.amazonaws.com/capacityType"] == "ON_DEMAND"
    assert labels["role"] == "system"
    assert labels["trainyard/node-group"] == "p5"
    assert [taint["key"] for taint in made["spec"]["taints"]] == [
        "CriticalAddonsOnly",
        "nvidia.com/gpu",
    ]


def test_no_device_is_offered_before_its_plugin_runs():
    """PR-28: GPUs and EFA devices come from the plugins, not from the kubelet."""
    assert set(node()["status"]["allocatable"]) == {
        "cpu",
        "memory",
        "ephemeral-storage",
        "hugepages-2Mi",
        "pods",
    }


def test_what_eks_reserves_is_not_allocatable():
    capacity, allocatable = node()["status"]["capacity"], node()["status"]["allocatable"]
    assert (capacity["cpu"], allocatable["cpu"]) == ("192", "191450m")
    assert capacity["memory"] == "2147483648Ki"
    reserved_mib = 255 + 11 * 100 + 100 + 42242
    assert allocatable["memory"] == f"{2147483648 - reserved_mib * 1024}Ki"
    assert capacity["pods"] == allocatable["pods"] == "49"


def test_the_instance_store_is_the_ephemeral_storage_only_where_it_is_joined():
    assert node()["status"]["capacity"]["ephemeral-storage"] == f"{30400 * 10**9 // 1024}Ki"
    plain = node(config=replace(CONFIG, local_storage=""))
    assert plain["status"]["capacity"]["ephemeral-storage"] == f"{500 * 2**20}Ki"


def test_only_instances_with_efa_set_huge_pages_aside():
    """A18: the number that the CPUs require; a p5.48xlarge has 42242Mi."""
    assert node()["status"]["allocatable"]["hugepages-2Mi"] == "42242Mi"
    without = node(replace(P5, efa_interfaces=0))
    assert without["status"]["allocatable"]["hugepages-2Mi"] == "0Mi"


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        pytest.param("p5.48xlarge", 100, id="p5"),
        pytest.param("c5.2xlarge", 58, id="c5"),
        pytest.param("g4dn.8xlarge", 58, id="g4dn"),
    ],
)
def test_without_a_limit_the_table_of_the_ami_counts(name, pods):
    assert classic_maximum_pods(instance_type(name)) == pods


@pytest.mark.parametrize(
    ("vcpus", "millicores"),
    [pytest.param(1, 60), pytest.param(2, 70), pytest.param(8, 90), pytest.param(192, 550)],
)
def test_cpu_is_reserved_by_the_bands_of_eks(vcpus, millicores):
    assert reserved_millicores(vcpus) == millicores


def test_the_kubelet_is_the_images():
    """An upgraded control plane with nodes that are not yet upgraded has both versions."""
    older = replace(P5, kubelet_version="1.34.10")
    assert node(older)["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.10"
