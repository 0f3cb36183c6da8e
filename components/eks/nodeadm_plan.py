"""User data for nodes with the EKS-optimized AL2023 AMI, which `nodeadm` reads at boot.

Sources:
    https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ (`node.eks.aws/v1alpha1`)
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from trainyard.components.config.eks import Taint
from trainyard.components.eks.node_group_plan import NodeGroupPlan

_BOUNDARY = "trainyard-node"


def render_self_managed_user_data(
    plan: NodeGroupPlan,
    *,
    cluster_name: str,
    endpoint: str,
    certificate_authority: str,
    service_cidr: str,
) -> str:
    """Return the user data of a self-managed node, as plain text.

    It contains the cluster (`certificate_authority` is base64, as EKS returns it) and the labels
    and taints with which the kubelet registers the node.
    """
    kubelet = _kubelet(plan)
    flags = [*_label_flag(plan.labels), *_taint_flag(plan.first_taints)]
    if flags:
        kubelet["flags"] = flags
    cluster = {
        "name": cluster_name,
        "apiServerEndpoint": endpoint,
        "certificateAuthority": certificate_authority,
        "cidr": service_cidr,
    }
    return _multipart({"cluster": cluster, **_spec(plan, kubelet)})


def render_managed_user_data(plan: NodeGroupPlan) -> str:
    """Return the user data of a node in a managed node group, as plain text.

    EKS adds a document with the cluster and labels, and `nodeadm` merges both. EKS sets the taints
    of the group itself when a node has joined.
    """
    kubelet = _kubelet(plan)
    if plan.startup_taints:
        taints = [taint.model_dump() for taint in plan.startup_taints]
        kubelet["config"] = {**kubelet.get("config", {}), "registerWithTaints": taints}
    return _multipart(_spec(plan, kubelet))


def _spec(plan: NodeGroupPlan, kubelet: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if kubelet:
        spec["kubelet"] = dict(kubelet)
    if plan.local_nvme == "raid0":
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return spec


def _kubelet(plan: NodeGroupPlan) -> dict[str, Any]:
    if plan.maximum_pods is None:
        return {}
    return {"config": {"maxPods": plan.maximum_pods}}


def _label_flag(labels: Mapping[str, str]) -> list[str]:
    if not labels:
        return []
    return ["--node-labels=" + ",".join(f"{key}={value}" for key, value in labels.items())]


def _taint_flag(taints: tuple[Taint, ...]) -> list[str]:
    if not taints:
        return []
    spelled = (f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
    return ["--register-with-taints=" + ",".join(spelled)]


def _multipart(spec: Mapping[str, Any]) -> str:
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": dict(spec)}
    # One line per value: a folded certificate is harder to compare.
    text = yaml.safe_dump(document, sort_keys=False, width=float("inf"))
    return "\n".join(
        [
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
            "",
            f"--{_BOUNDARY}",
            "Content-Type: application/node.eks.aws",
            "",
            f"---\n{text}",
            f"--{_BOUNDARY}--",
            "",
        ]
    )
