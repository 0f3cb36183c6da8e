"""The Node object that the kubelet of an EC2 instance registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.engine.pins import KUBERNETES_VERSION
from trainyard.sandbox.instance_types import InstanceType
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.node_config import NodeConfig, Taint

_MIB = 2**20
_GIB = 2**30
_HUGE_PAGE_MIB, _HUGE_MIB_OF_ENDPOINT, _ENDPOINTS_PER_CPU = 2, 110, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedGroup:
    """Properties that a managed node group adds to its nodes."""

    name: str
    capacity_type: str
    """`ON_DEMAND`, `SPOT` or `CAPACITY_BLOCK`."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    role_arn: str


def build_node(
    instance: Instance,
    instance_type: InstanceType,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> dict[str, Any]:
    """Return the Node as the kubelet of `instance` creates it, before any device plugin runs."""
    taints = (group.taints if group else ()) + config.taints
    capacity = _capacity(instance, instance_type, config)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": instance.private_dns_name,
            "labels": _labels(instance, instance_type, config, group),
            # kubectl and controllers use it for volumes and pods, as on real nodes.
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {
            "providerID": instance.provider_id,
            "taints": [taint.as_object() for taint in taints],
        },
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": instance.private_ip_address},
                {"type": "InternalDNS", "address": instance.private_dns_name},
                {"type": "Hostname", "address": instance.private_dns_name},
            ],
            "capacity": _quantities(capacity),
            "allocatable": _quantities(_allocatable(capacity, instance_type)),
            "nodeInfo": _node_info(instance, instance_type),
        },
    }


def classic_maximum_pods(instance_type: InstanceType) -> int:
    """Return the AMI's default: interfaces of card 0 x (addresses - 1) + 2.

    The VPC CNI assigns pod addresses on network card 0 only, and eni-max-pods.txt is based on that:
    100 for p5.48xlarge with two interfaces on that card.
    Source: nodeadm/internal/kubelet/maxpods of https://github.com/awslabs/amazon-eks-ami
    """
    interfaces = instance_type.interfaces_of_first_card
    return interfaces * (instance_type.addresses_per_interface - 1) + 2


def reserved_millicores(vcpus: int) -> int:
    """Return EKS's CPU reservation for the kubelet: 6 % of the first CPU, 1 %, 0.5 % x 2, 0.25 %.

    Source: nodeadm/internal/kubelet of https://github.com/awslabs/amazon-eks-ami
    """
    tenths = [600, 100, 50, 50]
    return (sum(tenths[:vcpus]) + max(0, vcpus - len(tenths)) * 25) // 10


def _capacity(
    instance: Instance, instance_type: InstanceType, config: NodeConfig
) -> dict[str, int]:
    """Return the capacity of the machine: CPU in millicores, the rest in bytes and counts.

    Memory is that of the instance type; a real node reports some percent less.
    """
    if config.local_storage.startswith("RAID") and instance_type.local_nvme_gb:
        storage = instance_type.local_nvme_gb * 10**9
    else:
        storage = instance.root_volume_gib * _GIB
    return {
        "cpu": instance_type.vcpus * 1000,
        "memory": instance_type.memory_mib * _MIB,
        "ephemeral-storage": storage,
        "hugepages-2Mi": _huge_pages(instance, instance_type) * _HUGE_PAGE_MIB * _MIB,
        "pods": config.maximum_pods or classic_maximum_pods(instance_type),
    }


def _huge_pages(instance: Instance, instance_type: InstanceType) -> int:
    """Return how many huge pages are reserved when an instance boots: some if it has EFA.

    `efa-hugepages-reserve` of the EFA installer, which the accelerated AMIs contain, reserves 110
    MiB for each of two endpoints of libfabric for every CPU, and one page more.
    Source: https://github.com/awslabs/libfabric-ci-scripts/blob/main/efa-check.sh, which computes
    the same; https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/141
    """
    if not instance.efa_interfaces:
        return 0
    memory_mib = instance_type.vcpus * _ENDPOINTS_PER_CPU * _HUGE_MIB_OF_ENDPOINT
    return memory_mib // _HUGE_PAGE_MIB + 1


def _allocatable(capacity: Mapping[str, int], instance_type: InstanceType) -> dict[str, int]:
    """Return the capacity minus the reservations in EKS's kubelet configuration.

    Memory: 255 MiB + 11 MiB per pod of the AMI's default maximum, 100 MiB before eviction, and huge
    pages, which are a separate resource.
    Storage: 1 GiB, and 10 % before eviction.
    Source: nodeadm/internal/kubelet/config.go of https://github.com/awslabs/amazon-eks-ami
    """
    reserved = (255 + 11 * classic_maximum_pods(instance_type) + 100) * _MIB
    reserved += capacity["hugepages-2Mi"]
    return {
        "cpu": capacity["cpu"] - reserved_millicores(instance_type.vcpus),
        "memory": capacity["memory"] - reserved,
        "ephemeral-storage": max(0, capacity["ephemeral-storage"] * 9 // 10 - _GIB),
        "hugepages-2Mi": capacity["hugepages-2Mi"],
        "pods": capacity["pods"],
    }


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    millicores = amounts["cpu"]
    cpu = f"{millicores}m" if millicores % 1000 else str(millicores // 1000)
    return {
        "cpu": cpu,
        "memory": f"{amounts['memory'] // 1024}Ki",
        "ephemeral-storage": f"{amounts['ephemeral-storage'] // 1024}Ki",
        "hugepages-2Mi": f"{amounts['hugepages-2Mi'] // _MIB}Mi",
        "pods": str(amounts["pods"]),
    }


def _labels(
    instance: Instance,
    instance_type: InstanceType,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> dict[str, str]:
    """Return the labels of kubelet, cloud controller, node group, and kubelet flags.

    Source: https://kubernetes.io/docs/reference/labels-annotations-taints/ and
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    labels = {
        "kubernetes.io/arch": _architecture(instance_type),
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": instance.private_dns_name,
        "node.kubernetes.io/instance-type": instance.instance_type,
        "topology.kubernetes.io/region": instance.region,
        "topology.kubernetes.io/zone": instance.availability_zone,
        "topology.k8s.aws/zone-id": instance.zone_id,
        # For older selectors, such as those in the EFA plugin's chart.
        "beta.kubernetes.io/arch": _architecture(instance_type),
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": instance.instance_type,
    }
    if group:
        labels |= {
            "eks.amazonaws.com/nodegroup": group.name,
            "eks.amazonaws.com/nodegroup-image": instance.image_id,
            "eks.amazonaws.com/capacityType": group.capacity_type,
            **group.labels,
        }
    return labels | dict(config.labels)


def _architecture(instance_type: InstanceType) -> str:
    return "arm64" if instance_type.architecture == "arm64" else "amd64"


def _node_info(instance: Instance, instance_type: InstanceType) -> dict[str, str]:
    return {
        "architecture": _architecture(instance_type),
        "bootID": "",
        "containerRuntimeVersion": "simulated",
        "kernelVersion": "simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{instance.kubelet_version or KUBERNETES_VERSION}",
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023 (simulated)",
        "systemUUID": "",
    }
