"""Checks of EKS add-on versions that need no account.

`trainyard.components.eks.addon_version_check` calls `DescribeAddonVersions` for the versions that
EKS offers. This module has the rules that do not change:

- kube-proxy must not be newer than the control plane and follows the version of the nodes, which in
  a stack is the cluster's version: https://kubernetes.io/releases/version-skew-policy/#kube-proxy
- `efa-only` interfaces need the VPC CNI 1.18.5:
  https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
- CoreDNS before 1.11 is for clusters before 1.29:
  https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html, "CoreDNS versions"
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.review import Review
from trainyard.components.eks.node_group_plan import NodeGroupPlan

EFA_ONLY_VPC_CNI = (1, 18, 5)
OLDEST_COREDNS = (1, 11, 0)
KEY = "architecture.addons.versions"


def upstream_version(addon_version: str) -> tuple[int, ...]:
    """Return the version of the installed software: (1, 35, 3) for `v1.35.3-eksbuild.29`."""
    return tuple(map(int, addon_version.removeprefix("v").partition("-")[0].split(".")))


def review_addon_versions(
    architecture: EksArchitecture, groups: Sequence[NodeGroupPlan], review: Review
) -> None:
    """Refuse versions in `addons.versions` that cannot work with the cluster or its nodes."""
    efa_only = any(
        interface.interface_type == "efa-only"
        for group in groups
        if group.interfaces is not None
        for interface in group.interfaces.interfaces
    )
    for addon, version in architecture.addons.versions.items():
        fault = addon_version_fault(
            addon, version, architecture.kubernetes_version, efa_only=efa_only
        )
        if fault is not None:
            problem, allowed = fault
            review.refuse(
                f"{KEY}.{addon}",
                problem,
                found=version,
                allowed=allowed,
                remedy=f"remove `{KEY}.{addon}`, so that the pinned version is installed, or give "
                "one that `aws eks describe-addon-versions --addon-name "
                f"{addon} --kubernetes-version {architecture.kubernetes_version}` lists",
                rules=("A17",) if addon == "vpc-cni" else (),
            )


def addon_version_fault(
    addon: str, version: str, kubernetes_version: str, *, efa_only: bool = False
) -> tuple[str, str] | None:
    """Return the problem of an add-on version and the allowed versions, or None.

    None does not mean that EKS offers the version.
    """
    upstream = upstream_version(version)
    cluster = tuple(map(int, kubernetes_version.split(".")))
    if addon == "kube-proxy" and upstream[:2] != cluster:
        problem = (
            f"is of Kubernetes {upstream[0]}.{upstream[1]}, but control plane and nodes run "
            f"{kubernetes_version}; kube-proxy follows them"
        )
        return problem, f"v{kubernetes_version}.…"
    if addon == "coredns" and upstream < OLDEST_COREDNS:
        problem = f"is older than any CoreDNS that EKS supports on Kubernetes {kubernetes_version}"
        return problem, "v1.11.0 or later"
    if addon == "vpc-cni" and efa_only and upstream < EFA_ONLY_VPC_CNI:
        problem = (
            "is older than v1.18.5, the first VPC CNI that leaves `efa-only` interfaces alone; "
            "nodes with them would not become Ready"
        )
        return problem, "v1.18.5 or later"
    return None
