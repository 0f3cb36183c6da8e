"""The add-ons that EKS installs besides the VPC CNI, kube-proxy and CoreDNS.

`trainyard.components.catalog.versions` pins their versions for each Kubernetes version.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html: the add-on names its EKS Pod
        Identity role itself.
    The charts of the add-ons: https://github.com/kubernetes-sigs/aws-ebs-csi-driver,
    https://github.com/kubernetes-sigs/aws-fsx-csi-driver, https://github.com/aws/eks-node-monitoring-agent,
    https://github.com/aws/eks-pod-identity-agent,
    https://github.com/aws-observability/helm-charts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.catalog.versions import EksVersion
from trainyard.components.config.eks import AddonName, Addons, EksStackConfig
from trainyard.components.eks.addons.node_selection import away_from
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import AddonPlan, LogGroupPlan, PodIdentityPlan

_CONTROLLERS = 2
"""Replicas of the controller of a driver: `controller.replicaCount` of the charts."""
ALWAYS_INSTALLED: tuple[AddonName, ...] = ("vpc-cni", "kube-proxy", "coredns")
POD_IDENTITY_AGENT: AddonName = "eks-pod-identity-agent"
NODE_MONITORING_AGENT: AddonName = "eks-node-monitoring-agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class EksAddon:
    """One add-on that EKS installs."""

    name: AddonName
    key: str
    """Key of `architecture.addons` that enables it."""
    daemon_set: str
    """DaemonSet that runs on every node."""
    namespace: str = "kube-system"
    """Namespace of its pods."""
    wanted: Callable[[EksStackConfig], bool]
    configuration: Callable[[Sequence[NodeGroupPlan]], dict[str, Any] | None] = lambda _: None
    """Configuration values that differ from the add-on's defaults."""
    service_account: str | None = None
    """Service account whose pods have an IAM role."""
    policy: str = ""
    """AWS managed policy of that role, with its path if it has one."""
    startup_taint: str | None = None
    """Taint that the add-on removes from a node when it is ready."""
    replicas: int = 0
    """Pods of its Deployments."""
    endpoints: tuple[str, ...] = ()
    """Services that its pods call on every node, beyond those that a node needs."""
    logs: tuple[str, ...] = ()
    """Its log groups, as parts of `container_insights_log_group`."""


def container_insights_log_group(cluster_name: str, part: str) -> str:
    """Return the name of a log group of Container Insights, such as `host`, of a cluster."""
    return f"/aws/containerinsights/{cluster_name}/{part}"


def fsx_csi_driver_wanted(config: EksStackConfig) -> bool:
    """Return whether the driver is enabled or `storage` has an FSx for Lustre file system."""
    lustre = any("fsx-lustre" in system.kind for system in config.storage.values())
    return config.architecture.addons.fsx_csi_driver or lustre


def _away_from_work(groups: Sequence[NodeGroupPlan]) -> dict[str, Any] | None:
    """Keep the EBS controllers off worker nodes, which are drained and replaced.

    The drivers' DaemonSets tolerate every taint by default. The configuration schema of the FSx
    driver is not published, so its controllers run wherever the chart allows.
    """
    work = {
        group.instance_type.name
        for group in groups
        if group.instance_type.accelerators or group.interfaces
    }
    if not work:
        return None
    return {"controller": {"affinity": away_from(sorted(work))}}


EKS_ADDONS = (
    EksAddon(
        name=POD_IDENTITY_AGENT,
        key="pod_identity_agent",
        daemon_set="eks-pod-identity-agent",
        wanted=lambda config: config.architecture.addons.pod_identity_agent,
    ),
    EksAddon(
        name="aws-ebs-csi-driver",
        key="ebs_csi_driver",
        daemon_set="ebs-csi-node",
        wanted=lambda config: config.architecture.addons.ebs_csi_driver,
        configuration=_away_from_work,
        service_account="ebs-csi-controller-sa",
        # Unlike the first version, it covers only volumes that the driver created, and it has no
        # path. https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html
        policy="AmazonEBSCSIDriverPolicyV2",
        startup_taint="ebs.csi.aws.com/agent-not-ready",
        replicas=_CONTROLLERS,
    ),
    EksAddon(
        name="aws-fsx-csi-driver",
        key="fsx_csi_driver",
        daemon_set="fsx-csi-node",
        wanted=fsx_csi_driver_wanted,
        service_account="fsx-csi-controller-sa",
        # The driver's documentation uses it.
        # https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi-create.html
        policy="AmazonFSxFullAccess",
        # https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/docs/install.md
        startup_taint="fsx.csi.aws.com/agent-not-ready",
        replicas=_CONTROLLERS,
    ),
    EksAddon(
        name=NODE_MONITORING_AGENT,
        key="node_monitoring_agent",
        daemon_set="eks-node-monitoring-agent",
        wanted=lambda config: config.architecture.addons.node_monitoring_agent,
        # The agent tolerates every taint, but its DCGM agent for NVIDIA GPUs tolerates none.
        # Without this setting, GPU faults on tainted nodes are not detected.
        configuration=lambda _: {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}},
    ),
    EksAddon(
        name="amazon-cloudwatch-observability",
        key="cloudwatch_observability",
        daemon_set="cloudwatch-agent",
        namespace="amazon-cloudwatch",
        wanted=lambda config: config.uses_cloudwatch_observability,
        # By default the add-on injects the OpenTelemetry SDK into every Python program that a
        # Service selects, such as the ranks of a training job.
        configuration=lambda _: {
            "manager": {"applicationSignals": {"autoMonitor": {"monitorAllServices": False}}}
        },
        service_account="cloudwatch-agent",
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Observability-EKS-addon.html
        policy="CloudWatchAgentServerPolicy",
        replicas=1,  # the operator
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-interface-VPC.html
        endpoints=("logs", "monitoring"),
        # Of pods, of Kubernetes, of the kernel and the system, and the measurements from which
        # CloudWatch makes metrics.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html
        logs=("application", "dataplane", "host", "performance"),
    ),
)
"""In the order of installation: the Pod Identity agent comes before the drivers that get their
roles from it."""


def installed_versions(config: EksStackConfig, pins: EksVersion) -> dict[AddonName, str]:
    """Return the version of each add-on that EKS installs: of the stack file, or else pinned."""
    names: list[AddonName] = [*ALWAYS_INSTALLED]
    names.extend(addon.name for addon in EKS_ADDONS if addon.wanted(config))
    given, pinned = config.architecture.addons.versions, pins.addon_versions()
    return {name: given.get(name) or pinned[name] for name in names}


def plan_eks_addons(
    config: EksStackConfig, version: EksVersion, groups: Sequence[NodeGroupPlan]
) -> tuple[AddonPlan, ...]:
    """Return the add-ons of a stack besides the default ones, in the order of installation."""
    addons, versions = config.architecture.addons, installed_versions(config, version)
    return tuple(
        AddonPlan(
            name=addon.name,
            version=versions[addon.name],
            configuration=addon.configuration(groups),
            identity=_identity(addon, addons),
            log_groups=tuple(
                LogGroupPlan(
                    name=container_insights_log_group(config.name, part),
                    retention_days=addons.log_retention_days,
                )
                for part in addon.logs
            ),
        )
        for addon in EKS_ADDONS
        if addon.wanted(config)
    )


def _identity(addon: EksAddon, addons: Addons) -> PodIdentityPlan | None:
    if addon.service_account is None:
        return None
    return PodIdentityPlan(
        namespace=addon.namespace,
        service_account=addon.service_account,
        policy=addon.policy,
        through="pod-identity" if addons.pod_identity_agent else "oidc",
    )
