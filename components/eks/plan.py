"""The plan of an EKS stack, as plain records.

`plan_stack` in `trainyard.components.eks.planner` creates them from the configuration; the
components in this package turn them into resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.eks import Taint
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.scraper_plan import ScraperPlan
from trainyard.components.monitoring.plan import MonitoringPlan
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.storage.storage_plan import FsxLustrePlan


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
class LogGroupPlan:
    """A log group that the control plane or an add-on writes to."""

    name: str
    retention_days: int
    """0 keeps logs forever."""
    adopted: bool = False
    """Whether the group exists and the stack imports it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonPlan:
    """One EKS add-on."""

    name: str
    """EKS name, such as `aws-ebs-csi-driver`."""
    version: str
    configuration: dict[str, Any] | None
    """Configuration values that differ from the add-on's defaults."""
    identity: PodIdentityPlan | None
    log_groups: tuple[LogGroupPlan, ...] = ()
    """Created before the add-on, which would create them without a retention time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPlan:
    """The complete plan of an EKS stack; components make no further decisions."""

    kind: ClassVar[Literal["eks"]] = "eks"
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
    log_group: LogGroupPlan | None = None
    """Of the control plane; None if it sends no logs."""
    secrets_key_arn: str | None = None
    """Customer managed KMS key that encrypts Kubernetes secrets."""
    addon_versions: AddonVersions
    addons: tuple[AddonPlan, ...] = ()
    """Further add-ons of EKS, in the order of installation."""
    self_managed_addons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the node groups that each self-managed add-on serves, by the name of the add-on in
    `trainyard.components.eks.addons.registry`, in the order of installation."""
    node_groups: tuple[NodeGroupPlan, ...]
    """The system node group first."""
    device_plugin_tolerations: tuple[Taint, ...] = ()
    """Taints of the node groups with devices, which the plugin pods must tolerate."""
    file_systems: tuple[FsxLustrePlan, ...] = ()
    """File systems that pods mount."""
    monitoring_plan: MonitoringPlan | None = None
    scraper: ScraperPlan | None = None
    """Reads the exporters; None if metrics do not go to Prometheus."""
    notes: tuple[str, ...]
    """Information for the user, such as when a Capacity Block starts."""

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """The node groups."""
        return self.node_groups
