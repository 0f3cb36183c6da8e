"""The records that describe an EKS stack before a resource exists.

`plan_eks` in `components.architectures.eks_plan` makes them from the configuration;
the components of this folder turn them into resources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.capacity.plan import CapacityPlan, PlacementPlan, SchedulePlan
from components.catalog.instance_type import InstanceType
from components.compute.interface_plan import InterfacePlan
from components.compute.root_volume import RootVolume


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A Kubernetes taint, in the spelling of Kubernetes."""

    key: str
    value: str
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupPlan:
    """One EKS node group, managed or self-managed."""

    name: str
    management: Literal["managed", "self-managed"]
    instance_type: InstanceType
    capacity: CapacityPlan
    placement: PlacementPlan
    schedule: SchedulePlan
    interfaces: InterfacePlan | None
    """None where EFA is off: the launch template then names no interfaces."""
    subnet_ids: tuple[str, ...]
    """Private subnets; exactly one where EFA is on."""
    root_volume: RootVolume
    local_nvme: Literal["raid0", "none"]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    maximum_pods: int | None
    """Written to the kubelet; None leaves it to the AMI's own table."""
    ami_type: str
    """EKS AMI type, such as `AL2023_x86_64_NVIDIA`."""
    ami_ssm_parameter: str
    """Versioned SSM parameter that holds the AMI id; for self-managed groups."""
    ami_release_version: str
    """Release version of the AMI, such as `1.35.6-20261112`; for managed groups."""
    iam_policies: tuple[str, ...]
    """Names of AWS managed policies that the node role gets, besides those every node needs."""
    ssh_key_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonVersions:
    """Pinned versions of the add-ons that EKS manages."""

    vpc_cni: str
    kube_proxy: str
    coredns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPlan:
    """An EKS stack: everything that the components need, nothing that they must decide."""

    name: str
    """Prefix of physical names; the cluster's name."""
    tags: dict[str, str]
    region: str
    """Region of the stack, such as `us-west-2`."""
    vpc_id: str
    control_plane_subnet_ids: tuple[str, ...]
    """Public and private subnets of the control plane, in at least two zones."""
    private_subnet_ids: tuple[str, ...]
    kubernetes_version: str
    authentication_mode: Literal["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"]
    node_authorization: Literal["aws-auth", "access-entry"]
    """How roles of self-managed node groups are let in; EKS itself lets in managed groups."""
    endpoint_public_access: bool
    endpoint_private_access: bool
    public_access_cidrs: tuple[str, ...]
    log_types: tuple[str, ...]
    addon_versions: AddonVersions
    node_groups: tuple[NodeGroupPlan, ...]
    """The system node group first."""
    device_plugins: tuple[Literal["nvidia", "efa", "neuron"], ...]
    """As the node groups need them, in the order of installation."""
    device_plugin_tolerations: tuple[Taint, ...] = ()
    """Taints of the node groups with devices: what the plugins' pods must tolerate to get there."""
    notes: tuple[str, ...]
    """What the user should know, such as when a Capacity Block starts."""
