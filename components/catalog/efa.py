"""The EFA device plugin: version, instance types and image, and the huge pages of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from trainyard.components.package_data import data_text

# Version, supported instance types and image of the EFA device plugin.
#
# Source: chart `aws-efa-k8s-device-plugin`, `values.yaml`, of https://github.com/aws/eks-charts in
# the pinned version. On other types the DaemonSet schedules no pod, and collective communication
# silently falls back to TCP.


EFA_DEVICE_PLUGIN_CHART_VERSION = "v0.5.31"
"""Chart whose manifest and list of instance types the program follows."""
EFA_DEVICE_PLUGIN_VERSION = "v0.5.21-eksbuild.9"

_LIST = Path(__file__).parent / "data" / "efa_plugin_instance_types.txt"

EFA_PLUGIN_INSTANCE_TYPES: tuple[str, ...] = tuple(data_text(_LIST).split())
"""`supportedInstanceLabels.values` of the chart, in its order."""

_REGISTRY_ACCOUNT = "602401143452"
# Regions whose EKS image registry is in another account.
# https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html, read in November 2026
_REGISTRY_ACCOUNTS = {
    "af-south-1": "877085696533",
    "ap-east-1": "800184023465",
    "ap-south-2": "900889452093",
    "ap-southeast-3": "296578399912",
    "ap-southeast-4": "491585149902",
    "ap-southeast-6": "333609536671",
    "ap-southeast-7": "121268973566",
    "ca-west-1": "761377655185",
    "cn-north-1": "918309763551",
    "cn-northwest-1": "961992271922",
    "eu-central-2": "900612956339",
    "eu-south-1": "590381155156",
    "eu-south-2": "455263428931",
    "il-central-1": "066635153087",
    "me-central-1": "759879836304",
    "me-south-1": "558608220178",
    "mx-central-1": "730335286997",
    "us-gov-east-1": "151742754352",
    "us-gov-west-1": "013241004608",
}


def efa_device_plugin_image(region: str) -> str:
    """Return the pinned image of the EFA device plugin in the registry of a region."""
    account = _REGISTRY_ACCOUNTS.get(region, _REGISTRY_ACCOUNT)
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return (
        f"{account}.dkr.ecr.{region}.{suffix}/eks/aws-efa-k8s-device-plugin:"
        f"{EFA_DEVICE_PLUGIN_VERSION}"
    )


_G6 = tuple(f"{family}.{size}xlarge" for family in ("g6", "g6e") for size in (8, 12, 16, 24, 48))
_G7 = tuple(f"{family}.{size}xlarge" for family in ("g7", "g7e") for size in (8, 12, 24, 48))
_FIRST_CHART: Mapping[tuple[int, int, int], tuple[str, ...]] = MappingProxyType(
    {
        (0, 4, 4): ("p4de.24xlarge",),
        (0, 5, 5): (*_G6, "p5e.48xlarge"),
        (0, 5, 6): ("p5en.48xlarge",),
        (0, 5, 7): ("trn2.48xlarge",),
        (0, 5, 9): ("p6-b200.48xlarge", "trn2u.48xlarge"),
        (0, 5, 14): ("p6e-gb200.36xlarge",),
        (0, 5, 23): (*_G7[4:], "p5.4xlarge", "p6-b300.48xlarge", "trn2.3xlarge"),
        (0, 5, 24): ("p6e-gb300.36xlarge",),
        (0, 5, 30): _G7[:4],
    }
)
"""Accelerated instance types that each chart version added: `git log` of
`stable/aws-efa-k8s-device-plugin/values.yaml`, whose first version was 0.4.2."""


def chart_version_with(instance_type: str) -> tuple[int, int, int] | None:
    """Return the first chart version that supports a type; None if unknown."""
    return next((v for v, types in _FIRST_CHART.items() if instance_type in types), None)


# Huge pages of a node with EFA, and how many a pod should request.
#
# The EKS accelerated AMIs contain the EFA installer. On an instance with an EFA device, its
# `efa-hugepages-reserve` reserves 2 MiB pages at boot: space for two endpoints of 110 MiB that
# libfabric can open for every CPU, and one more page. The number therefore depends on the CPUs:
# `kubectl describe node` shows 21122Mi on p4de.24xlarge and 42242Mi on p5.48xlarge.
#
# Source:
#     https://github.com/awslabs/libfabric-ci-scripts/blob/main/efa-check.sh
#     https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/141, where AWS repeats the sum
#     https://github.com/awslabs/amazon-eks-ami, templates/al2023/provisioners/install-efa.sh


HUGE_PAGE_MIB = 2
_ENDPOINT_MIB = 110
_ENDPOINTS_PER_CPU = 2

RECOMMENDED_MIB = 5120
"""Request of a pod that uses EFA in the examples of
https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html"""


def reserved_huge_pages(vcpus: int) -> int:
    """Return how many pages of 2 MiB an instance with EFA reserves."""
    return vcpus * _ENDPOINTS_PER_CPU * _ENDPOINT_MIB // HUGE_PAGE_MIB + 1


def huge_pages_of_pod_mib(vcpus: int) -> int:
    """Return the request of a pod that uses a whole node, in MiB: the recommendation or less.

    A p5.4xlarge has 16 CPUs and 3522 MiB: a pod that requests 5120 MiB there stays pending.
    """
    return min(RECOMMENDED_MIB, reserved_huge_pages(vcpus) * HUGE_PAGE_MIB)
