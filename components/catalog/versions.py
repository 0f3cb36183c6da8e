"""Pinned versions of a cluster. Nothing floats, so a second `up` changes nothing.

Read in November 2026:

- Support dates: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, the
  release calendar, and `aws eks describe-cluster-versions`. Price of extended support:
  https://aws.amazon.com/eks/pricing/
- AMI releases: https://github.com/awslabs/amazon-eks-ami/releases. v20260930 and v20261003 are not
  used: their nodes reboot with kernel panics on Kubernetes 1.31 to 1.35, according to the release
  notes of v20261003 and v20261012. v20261012 has the fixed kernel (6.12.111); it is not used yet,
  because the kubelet versions of its releases have not been read.
- SSM parameters by release: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
- Add-ons: the defaults of `aws eks describe-addon-versions --kubernetes-version …` when they were
  pinned. Since September 2026, EKS's defaults are later for the EBS CSI driver (v1.66.0) and
  CloudWatch Observability (v6.7.0).
  The VPC CNI must be 1.18.5 or later for `efa-only` interfaces,
  https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
- Scheduler: https://distro.eks.amazonaws.com, the images of EKS Distro by Kubernetes version;
  aws/eks-distro at 1788446, docs/contents/releases/1-36/7/index.md, and 1-34/21, 1-35/13

EKS supports 1.37 since October 2026,
https://aws.amazon.com/about-aws/whats-new/2026/10/amazon-eks-distro-kubernetes-version-1-37/. It is
not pinned: the default versions of its kube-proxy and CoreDNS are not known yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Literal

from trainyard.components.catalog.instance_types import Architecture

AmiVariant = Literal["standard", "nvidia", "neuron"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EksVersion:
    """Pinned versions for one Kubernetes minor version on EKS."""

    minor: str
    """Such as `1.35`."""
    ami_release_version: str
    """Release version of the EKS-optimized AL2023 AMIs: kubelet version and date."""
    vpc_cni: str
    kube_proxy: str
    coredns: str
    pod_identity_agent: str
    ebs_csi_driver: str
    fsx_csi_driver: str
    node_monitoring_agent: str
    cloudwatch_observability: str
    kube_scheduler_image: str
    """kube-scheduler of EKS Distro, for the Neuron scheduler extension."""

    def addon_versions(self) -> dict[str, str]:
        """Return the pinned version of each add-on, by EKS add-on name."""
        return {
            "vpc-cni": self.vpc_cni,
            "kube-proxy": self.kube_proxy,
            "coredns": self.coredns,
            "eks-pod-identity-agent": self.pod_identity_agent,
            "aws-ebs-csi-driver": self.ebs_csi_driver,
            "aws-fsx-csi-driver": self.fsx_csi_driver,
            "eks-node-monitoring-agent": self.node_monitoring_agent,
            "amazon-cloudwatch-observability": self.cloudwatch_observability,
        }

    def ami_ssm_parameter(self, variant: AmiVariant, architecture: Architecture) -> str:
        """Return the SSM parameter of the pinned AMI release, valid in every region.

        Unlike `…/recommended/image_id`, its value never changes.
        """
        _check_image(variant, architecture)
        release = self.ami_release_version.partition("-")[2]
        name = f"amazon-eks-node-al2023-{architecture}-{variant}-{self.minor}-v{release}"
        return (
            f"/aws/service/eks/optimized-ami/{self.minor}/amazon-linux-2023/{architecture}/"
            f"{variant}/{name}/image_id"
        )


DEFAULT_KUBERNETES_VERSION = "1.36"
"""Default version of a stack, and the EKS default since the middle of 2026."""

_EKS_DISTRO_SCHEDULER = "public.ecr.aws/eks-distro/kubernetes/kube-scheduler"

EKS_VERSIONS: Mapping[str, EksVersion] = MappingProxyType(
    {
        "1.34": EksVersion(
            minor="1.34",
            ami_release_version="1.34.10-20260903",
            vpc_cni="v1.22.4-eksbuild.3",
            kube_proxy="v1.34.6-eksbuild.29",
            coredns="v1.12.4-eksbuild.38",
            pod_identity_agent="v1.3.10-eksbuild.3",
            ebs_csi_driver="v1.64.0-eksbuild.1",
            fsx_csi_driver="v1.9.0-eksbuild.1",
            node_monitoring_agent="v1.7.0-eksbuild.1",
            cloudwatch_observability="v6.4.0-eksbuild.1",
            kube_scheduler_image=f"{_EKS_DISTRO_SCHEDULER}:v1.34.9-eks-1-34-21",
        ),
        "1.35": EksVersion(
            minor="1.35",
            ami_release_version="1.35.7-20260911",
            vpc_cni="v1.22.4-eksbuild.3",
            kube_proxy="v1.35.3-eksbuild.29",
            coredns="v1.13.2-eksbuild.31",
            pod_identity_agent="v1.3.10-eksbuild.3",
            ebs_csi_driver="v1.64.0-eksbuild.1",
            fsx_csi_driver="v1.9.0-eksbuild.1",
            node_monitoring_agent="v1.7.0-eksbuild.1",
            cloudwatch_observability="v6.4.0-eksbuild.1",
            kube_scheduler_image=f"{_EKS_DISTRO_SCHEDULER}:v1.35.6-eks-1-35-13",
        ),
        "1.36": EksVersion(
            minor="1.36",
            ami_release_version="1.36.4-20260923",
            vpc_cni="v1.22.4-eksbuild.3",
            kube_proxy="v1.36.0-eksbuild.25",
            coredns="v1.14.3-eksbuild.23",
            pod_identity_agent="v1.3.10-eksbuild.3",
            ebs_csi_driver="v1.66.0-eksbuild.1",
            fsx_csi_driver="v1.9.0-eksbuild.1",
            node_monitoring_agent="v1.7.0-eksbuild.1",
            cloudwatch_observability="v6.4.0-eksbuild.1",
            kube_scheduler_image=f"{_EKS_DISTRO_SCHEDULER}:v1.36.2-eks-1-36-7",
        ),
    }
)
"""Supported Kubernetes versions, by minor version."""

STANDARD_SUPPORT_ENDS: Mapping[str, date] = MappingProxyType(
    {
        "1.29": date(2025, 3, 23),
        "1.30": date(2025, 7, 23),
        "1.31": date(2025, 11, 26),
        "1.32": date(2026, 3, 23),
        "1.33": date(2026, 7, 29),
        "1.34": date(2026, 12, 2),
        "1.35": date(2027, 3, 27),
        "1.36": date(2027, 8, 2),
    }
)
"""First day (UTC) on which a minor version costs extended support, by minor version."""

SUPPORT_NOTICE = timedelta(days=60)
"""Notice period before the end of standard support; the same as that of EKS.

https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, "Version FAQs"
"""


KUBELET_SKEW = 3
"""Minor versions that a kubelet can be behind the API server; it must not be newer.

https://kubernetes.io/releases/version-skew-policy/#kubelet
"""


def standard_support_ended(minor: str, today: date) -> bool:
    """Return whether EKS standard support of a Kubernetes minor version has ended."""
    ends = STANDARD_SUPPORT_ENDS.get(minor)
    if ends is None:
        return minor < min(STANDARD_SUPPORT_ENDS)
    return today >= ends


def extended_support_ended(minor: str, today: date) -> bool:
    """Return whether EKS has ended extended support too, 12 months after standard support.

    https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    """
    ends = STANDARD_SUPPORT_ENDS.get(minor)
    if ends is None:
        return minor_number(minor) < min(map(minor_number, STANDARD_SUPPORT_ENDS))
    return today >= ends.replace(year=ends.year + 1)


def minor_number(version: str) -> int:
    """Return 35 for `1.35`, and for longer versions such as `v1.35.3-eksbuild.29`."""
    return int(version.removeprefix("v").split(".")[1])


def standard_support_ends_soon(minor: str, today: date) -> date | None:
    """Return the day on which standard support ends, if it is near and not past."""
    ends = STANDARD_SUPPORT_ENDS.get(minor)
    return ends if ends is not None and today < ends <= today + SUPPORT_NOTICE else None


def ami_type(variant: AmiVariant, architecture: Architecture) -> str:
    """Return the EKS `amiType` of a managed node group, such as `AL2023_x86_64_NVIDIA`.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
    """
    _check_image(variant, architecture)
    spelling = {"x86_64": "x86_64", "arm64": "ARM_64"}[architecture]
    return f"AL2023_{spelling}_{variant.upper()}"


def _check_image(variant: AmiVariant, architecture: Architecture) -> None:
    """Raise for an image that EKS does not build: every Neuron type has x86_64.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html, `amiType`

    Raises:
        ValueError: there is no such image.
    """
    if variant == "neuron" and architecture == "arm64":
        raise ValueError("EKS has no AL2023 image with the Neuron driver for arm64")


NCCL_TESTS_IMAGE = (
    "public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.43.2-ofiv1.16.3-ncclv2.27.7-1-testsv2.16.9"
)
"""Image of the test jobs for GPUs and EFA: CUDA, EFA installer, NCCL plugin, NCCL and tests.

Pinned by a tag that contains every version, because the digest is not known.
"""

DCGM_IMAGE = "nvcr.io/nvidia/cloud-native/dcgm:4.6.0-1-ubuntu24.04"
"""Image of the GPU diagnostics; the version of `dcgm` in the NVIDIA GPU Operator.

https://github.com/NVIDIA/gpu-operator, deployments/gpu-operator/values.yaml. Pinned by its tag,
because the digest is not known."""

PARALLELCLUSTER_VERSION = "3.16.1"
"""Version of ParallelCluster; tests validate the cluster YAML with the package of this version.

https://github.com/aws/aws-parallelcluster/releases
"""
