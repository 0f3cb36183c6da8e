"""The records that describe an EKS stack before a resource exists.

`plan_eks` in `components.architectures.eks_plan` makes them from the configuration;
the components of this folder turn them into resources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from components.capacity.plan import (
    ONE_BY_ONE,
    CapacityPlan,
    PlacementPlan,
    SchedulePlan,
    UpdatePlan,
)
from components.catalog.instance_type import InstanceType
from components.compute.interface_plan import InterfacePlan
from components.compute.root_volume import RootVolume
from components.config.eks import AddonPolicy
from components.network.network_plan import NetworkPlan
from components.storage.fsx_lustre_plan import FsxLustrePlan


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
    subnets: tuple[str, ...]
    """Private subnets, as references of the `NetworkPlan`; exactly one where EFA is on."""
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
    addon_policies: tuple[AddonPolicy, ...] = ()
    """What pods may do with the node role."""
    update: UpdatePlan = ONE_BY_ONE
    """How EKS replaces nodes; for managed groups."""
    auto_repair: bool = False
    """Whether EKS replaces nodes that are found broken; for managed groups."""
    ssh_key_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonVersions:
    """Pinned versions of the add-ons that EKS manages."""

    vpc_cni: str
    kube_proxy: str
    coredns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodIdentityPlan:
    """The IAM role of the pods of one service account."""

    namespace: str
    service_account: str
    policy: str
    """AWS managed policy: its name, with the path where it has one."""
    through: Literal["pod-identity", "oidc"]
    """Who hands the role out: the Pod Identity agent, or the cluster's OIDC provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonPlan:
    """One add-on that EKS manages."""

    name: str
    """As EKS calls it, such as `aws-ebs-csi-driver`."""
    version: str
    configuration: dict[str, Any] | None
    """What differs from the add-on's own settings."""
    identity: PodIdentityPlan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerminationPlan:
    """The node termination handler."""

    node_groups: tuple[str, ...]
    """Self-managed node groups that it drains, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPlan:
    """An EKS stack: everything that the components need, nothing that they must decide."""

    name: str
    """Prefix of physical names; the cluster's name."""
    tags: dict[str, str]
    region: str
    """Region of the stack, such as `us-west-2`."""
    network: NetworkPlan
    """The VPC. The control plane uses all its subnets, in at least two zones."""
    kubernetes_version: str
    authentication_mode: Literal["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"]
    node_authorization: Literal["aws-auth", "access-entry"]
    """How roles of self-managed node groups are let in; EKS itself lets in managed groups."""
    endpoint_public_access: bool
    endpoint_private_access: bool
    public_access_cidrs: tuple[str, ...]
    log_types: tuple[str, ...]
    secrets_key_arn: str | None = None
    """KMS key of the user's own that encrypts Kubernetes secrets."""
    addon_versions: AddonVersions
    addons: tuple[AddonPlan, ...] = ()
    """Add-ons besides those, in the order of installation."""
    node_termination: NodeTerminationPlan | None = None
    """None where nothing is to be drained."""
    node_groups: tuple[NodeGroupPlan, ...]
    """The system node group first."""
    device_plugins: tuple[Literal["nvidia", "efa", "neuron"], ...]
    """As the node groups need them, in the order of installation."""
    device_plugin_tolerations: tuple[Taint, ...] = ()
    """Taints of the node groups with devices: what the plugins' pods must tolerate to get there."""
    neuron_scheduler: bool = False
    """Whether the Neuron scheduler extension stands beside the Neuron device plugin."""
    file_systems: tuple[FsxLustrePlan, ...] = ()
    """What pods mount."""
    notes: tuple[str, ...]
    """What the user should know, such as when a Capacity Block starts."""
