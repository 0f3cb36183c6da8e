"""Which add-ons EKS runs in a cluster, at which version, how configured, and with which role.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html: an add-on whose role comes
        from EKS Pod Identity is given it in the add-on itself.
    The charts that the add-ons are built from: https://github.com/kubernetes-sigs/aws-ebs-csi-driver,
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
"""AWS managed; unlike the first version it allows only volumes that the driver made, and it has no
path. https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html"""
FSX_CSI_POLICY = "AmazonFSxFullAccess"
"""AWS managed; what the driver is documented with.
https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi-create.html"""

_EVERY_TAINT = [{"operator": "Exists"}]


def plan_addons(
    config: EksStackConfig, version: EksVersion, groups: Iterable[NodeGroupPlan]
) -> tuple[AddonPlan, ...]:
    """Return the add-ons besides VPC CNI, kube-proxy and CoreDNS, in the order of installation.

    The agent that hands out roles comes before the drivers that get theirs from it.
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
    """Return whether pods mount FSx for Lustre: asked for, or because `storage` holds one."""
    lustre = any("fsx-lustre" in system.kind for system in config.storage.values())
    return config.architecture.addons.fsx_csi_driver or lustre


def plan_node_termination(
    addons: Addons, groups: Iterable[NodeGroupPlan]
) -> NodeTerminationPlan | None:
    """Return which node groups are drained by the handler; None where there is none to drain.

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
    """Keep the controllers off the nodes of the work, which are drained and replaced.

    The drivers' DaemonSets tolerate every taint as they are. The FSx driver's schema of settings
    is not published, so that its controllers run wherever their chart lets them.
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
"""The agent itself tolerates every taint; its companion for NVIDIA GPUs tolerates none, so that
a tainted GPU node would not be watched for faults of its GPUs."""
