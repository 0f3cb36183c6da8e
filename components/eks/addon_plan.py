"""EKS add-ons of a cluster: versions, configuration and IAM roles.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html: the add-on names its EKS Pod
        Identity role itself.
    The charts of the add-ons: https://github.com/kubernetes-sigs/aws-ebs-csi-driver,
    https://github.com/kubernetes-sigs/aws-fsx-csi-driver, https://github.com/aws/eks-node-monitoring-agent,
    https://github.com/aws/eks-pod-identity-agent
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from components.catalog.versions import EksVersion
from components.config.eks_addons import Addons
from components.config.eks_stack import EksStackConfig
from components.eks.plan import (
    AddonPlan,
    NodeGroupPlan,
    NodeTerminationPlan,
    PodIdentityPlan,
)

POD_IDENTITY_AGENT = "eks-pod-identity-agent"
EBS_CSI_DRIVER = "aws-ebs-csi-driver"
FSX_CSI_DRIVER = "aws-fsx-csi-driver"
NODE_MONITORING_AGENT = "eks-node-monitoring-agent"

EBS_CSI_POLICY = "AmazonEBSCSIDriverPolicyV2"
"""AWS managed policy. Unlike the first version, it covers only volumes that the driver created, and
it has no path.
https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html"""
FSX_CSI_POLICY = "AmazonFSxFullAccess"
"""AWS managed policy that the driver's documentation uses.
https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi-create.html"""

_EVERY_TAINT = [{"operator": "Exists"}]


def plan_addons(
    config: EksStackConfig, version: EksVersion, groups: Iterable[NodeGroupPlan]
) -> tuple[AddonPlan, ...]:
    """Return the add-ons besides VPC CNI, kube-proxy and CoreDNS, in the order of installation.

    The Pod Identity agent comes before the drivers that get their roles from it.
    """
    addons = config.architecture.addons
    configured: list[tuple[str, Mapping[str, Any] | None, PodIdentityPlan | None]] = []
    if addons.pod_identity_agent:
        configured.append((POD_IDENTITY_AGENT, None, None))
    if addons.ebs_csi_driver:
        identity = _identity(addons, "ebs-csi-controller-sa", EBS_CSI_POLICY)
        configured.append((EBS_CSI_DRIVER, _ebs_configuration(groups), identity))
    if fsx_csi_driver_wanted(config):
        identity = _identity(addons, "fsx-csi-controller-sa", FSX_CSI_POLICY)
        configured.append((FSX_CSI_DRIVER, None, identity))
    if addons.node_monitoring_agent:
        configured.append((NODE_MONITORING_AGENT, _MONITORING, None))
    return tuple(
        AddonPlan(
            name=name,
            version=_version(name, addons, version),
            configuration=dict(configuration) if configuration else None,
            identity=identity,
        )
        for name, configuration, identity in configured
    )


def fsx_csi_driver_wanted(config: EksStackConfig) -> bool:
    """Return whether the driver is enabled or `storage` has an FSx for Lustre file system."""
    lustre = any("fsx-lustre" in system.kind for system in config.storage.values())
    return config.architecture.addons.fsx_csi_driver or lustre


def plan_node_termination(
    addons: Addons, groups: Iterable[NodeGroupPlan]
) -> NodeTerminationPlan | None:
    """Return the node groups that the handler drains, or None if there are none.

    EKS drains the nodes of managed groups itself.
    """
    drained = tuple(group.name for group in groups if group.management == "self-managed")
    if not addons.node_termination_handler or not drained:
        return None
    return NodeTerminationPlan(node_groups=drained)


def _version(name: str, addons: Addons, version: EksVersion) -> str:
    chosen: Mapping[str, str] = {str(key): value for key, value in addons.versions.items()}
    return chosen.get(name) or version.addon_versions()[name]


def _identity(addons: Addons, service_account: str, policy: str) -> PodIdentityPlan:
    through: Literal["pod-identity", "oidc"]
    through = "pod-identity" if addons.pod_identity_agent else "oidc"
    return PodIdentityPlan(
        namespace="kube-system", service_account=service_account, policy=policy, through=through
    )


def _ebs_configuration(groups: Iterable[NodeGroupPlan]) -> Mapping[str, Any] | None:
    """Keep the controllers off worker nodes, which are drained and replaced.

    The drivers' DaemonSets tolerate every taint by default. The configuration schema of the FSx
    driver is not published, so its controllers run wherever the chart allows.
    """
    work = {group.instance_type.name for group in groups if _has_devices(group)}
    if not work:
        return None
    expression = {
        "key": "node.kubernetes.io/instance-type",
        "operator": "NotIn",
        "values": sorted(work),
    }
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"controller": {"affinity": affinity}}


def _has_devices(group: NodeGroupPlan) -> bool:
    return bool(group.instance_type.accelerators or group.interfaces)


_MONITORING: Mapping[str, Any] = {"dcgmAgent": {"tolerations": _EVERY_TAINT}}
"""The agent tolerates every taint, but its DCGM agent for NVIDIA GPUs tolerates none. Without this
setting, GPU faults on tainted nodes are not detected."""
