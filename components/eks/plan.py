"""The plan of an EKS stack, as plain records.

`plan_stack` in `components.eks.planner` creates them from the configuration; the
components in this package turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from typing_extensions import override

from components.capacity.plan import ONE_BY_ONE, SchedulePlan, UpdatePlan
from components.compute.node_pool_plan import ImageSource, NodePoolPlan
from components.compute.root_volume import RootVolume
from components.config.eks import AddonPolicy
from components.network.network_plan import NetworkPlan
from components.storage.fsx_lustre_plan import FsxLustrePlan

SYSTEM_NODE_GROUP = "system"
"""Name of the node group for cluster services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A Kubernetes taint, in the spelling of Kubernetes."""

    key: str
    value: str
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupPlan(NodePoolPlan):
    """One EKS node group, managed or self-managed."""

    management: Literal["managed", "self-managed"]
    schedule: SchedulePlan
    root_volume: RootVolume
    local_nvme: Literal["raid0", "none"]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    maximum_pods: int | None
    """Kubelet setting; None uses the table in the AMI."""
    ami_type: str
    """EKS AMI type, such as `AL2023_x86_64_NVIDIA`."""
    ami_ssm_parameter: str
    """Versioned SSM parameter of the AMI id; for self-managed groups."""
    ami_release_version: str
    """Release version of the AMI, such as `1.35.6-20261112`; for managed groups."""
    iam_policies: tuple[str, ...]
    """Names of AWS managed policies of the node role, in addition to those that every node
    needs."""
    addon_policies: tuple[AddonPolicy, ...] = ()
    """Permissions of pods that use the node role."""
    update: UpdatePlan = ONE_BY_ONE
    """For managed groups."""
    auto_repair: bool = False
    """Whether EKS replaces unhealthy nodes; for managed groups."""

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        if self.name == SYSTEM_NODE_GROUP:
            return "architecture.system_node_group"
        return f"architecture.node_groups.{self.name}"

    @property
    @override
    def image(self) -> ImageSource:
        """The EKS-optimized AMI."""
        return ImageSource(parameter=self.ami_ssm_parameter)

    @property
    @override
    def nodes(self) -> int:
        """Desired size, now or when the Capacity Block starts."""
        return max(self.schedule.desired, self.schedule.scale_up_desired)

    @property
    @override
    def most_nodes(self) -> int:
        """The same: jobs do not change the size."""
        return self.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonVersions:
    """Versions of the default EKS add-ons."""

    vpc_cni: str
    kube_proxy: str
    coredns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodIdentityPlan:
    """The IAM role of the pods of one service account."""

    namespace: str
    service_account: str
    policy: str
    """Name of an AWS managed policy, with its path if it has one."""
    through: Literal["pod-identity", "oidc"]
    """How pods get the role: the Pod Identity agent, or the cluster's OIDC provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonPlan:
    """One EKS add-on."""

    name: str
    """EKS name, such as `aws-ebs-csi-driver`."""
    version: str
    configuration: dict[str, Any] | None
    """Configuration values that differ from the add-on's defaults."""
    identity: PodIdentityPlan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPlan:
    """The complete plan of an EKS stack; components make no further decisions."""

    kind: ClassVar = "eks"
    name: str
    """Cluster name; prefix of physical names."""
    tags: dict[str, str]
    region: str
    """Region of the stack, such as `us-west-2`."""
    network: NetworkPlan
    """The control plane uses all subnets, in at least two zones."""
    kubernetes_version: str
    authentication_mode: Literal["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"]
    node_authorization: Literal["aws-auth", "access-entry"]
    """How self-managed node groups join; EKS authorizes managed groups itself."""
    endpoint_public_access: bool
    endpoint_private_access: bool
    public_access_cidrs: tuple[str, ...]
    log_types: tuple[str, ...]
    secrets_key_arn: str | None = None
    """Customer managed KMS key that encrypts Kubernetes secrets."""
    addon_versions: AddonVersions
    addons: tuple[AddonPlan, ...] = ()
    """Further add-ons of EKS, in the order of installation."""
    self_managed_addons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the node groups that each self-managed add-on serves, by the name of the add-on in
    `components.eks.addons.registry`, in the order of installation."""
    node_groups: tuple[NodeGroupPlan, ...]
    """The system node group first."""
    device_plugin_tolerations: tuple[Taint, ...] = ()
    """Taints of the node groups with devices, which the plugin pods must tolerate."""
    file_systems: tuple[FsxLustrePlan, ...] = ()
    """File systems that pods mount."""
    notes: tuple[str, ...]
    """Information for the user, such as when a Capacity Block starts."""

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """The node groups."""
        return self.node_groups
