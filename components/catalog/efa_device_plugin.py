"""What the pinned EFA device plugin runs on, and where its image is.

Source: chart `aws-efa-k8s-device-plugin`, `values.yaml`, of https://github.com/aws/eks-charts in
the version that `components.catalog.versions` pins. On a type that the list lacks, the DaemonSet
schedules no pod, and collective communication silently falls back to TCP.
"""

from __future__ import annotations

from pathlib import Path

from components.catalog.versions import EFA_DEVICE_PLUGIN_VERSION

_LIST = Path(__file__).parent / "data" / "efa_plugin_instance_types.txt"

EFA_PLUGIN_INSTANCE_TYPES: tuple[str, ...] = tuple(_LIST.read_text(encoding="utf-8").split())
"""`supportedInstanceLabels.values` of the chart, in its order."""

_REGISTRY_ACCOUNT = "602401143452"
# Regions whose EKS image registry is another account's.
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
    """Return the pinned image of the EFA device plugin in a region's own registry."""
    account = _REGISTRY_ACCOUNTS.get(region, _REGISTRY_ACCOUNT)
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return (
        f"{account}.dkr.ecr.{region}.{suffix}/eks/aws-efa-k8s-device-plugin:"
        f"{EFA_DEVICE_PLUGIN_VERSION}"
    )
