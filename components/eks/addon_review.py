"""Checks of the add-ons of a stack file, their versions, and the taints that affect them."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.eks import EksArchitecture, EksStackConfig, NodeGroup
from trainyard.components.config.problems import Review
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS
from trainyard.components.eks.node_group_plan import NodeGroupPlan

# Checks of EKS add-on versions that need no account.
#
# `trainyard.components.eks.version_check` calls `DescribeAddonVersions` for the versions that
# EKS offers. This module has the rules that do not change:
#
# - kube-proxy must not be newer than the control plane and follows the version of the nodes, which
# in
#   a stack is the cluster's version:
#   https://kubernetes.io/releases/version-skew-policy/#kube-proxy
# - `efa-only` interfaces need the VPC CNI 1.18.5:
#   https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
# - CoreDNS before 1.11 is for clusters before 1.29:
#   https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html, "CoreDNS versions"


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
                remedy=f"{review.remove_command(f'{KEY}.{addon}')}, so that the pinned version is "
                "installed, or give one that `aws eks describe-addon-versions --addon-name "
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


EFA_DRA_MINIMUM_MINOR = 34
"""The EFA DRA driver runs on Kubernetes 1.34 and later.
https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"""

_ADDONS = "architecture.addons"

_FAMILIES_WITHOUT_GPU_METRICS = frozenset({"g6f", "g7", "g7e", "gr6f"})
_TYPES_WITHOUT_GPU_METRICS = frozenset({"p5.4xlarge"})
"""NVIDIA GPUs on which the DCGM exporter of CloudWatch Observability 6.4.0 does not run.

https://github.com/aws-observability/helm-charts, `dcgmExporter.affinity` in the values of the chart
"""

STARTUP_TAINTS = {addon.startup_taint: addon for addon in EKS_ADDONS if addon.startup_taint}
"""Drivers by the taint that they remove from a node when they are ready."""

_RESERVED_TAINT_NAMESPACES = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io")
"""Kubernetes itself sets and removes these.
https://kubernetes.io/docs/reference/labels-annotations-taints/"""


def review_addons(config: EksStackConfig, review: Review) -> None:
    """Record problems of the add-ons, and taints that prevent add-ons from working."""
    architecture = config.architecture
    _review_efa_plugins(architecture, review)
    _review_auto_repair(architecture, review)
    _review_observability(config, review)
    _review_kueue(architecture, review)
    _review_versions_of_others(config, review)
    for name, group in architecture.node_groups.items():
        _review_taints(name, group, config, review)


def _review_efa_plugins(architecture: EksArchitecture, review: Review) -> None:
    addons = architecture.addons
    with_efa = [name for name, group in architecture.node_groups.items() if group.efa_enabled]
    if addons.efa_device_plugin and addons.efa_dra_driver:
        review.refuse(
            f"{_ADDONS}.efa_device_plugin",
            (
                "is on beside `efa_dra_driver`: both device plugin and DRA driver for EFA would "
                "hand out the same interfaces, to two pods at once"
            ),
            found=True,
            allowed="one of the two",
            remedy=review.set_command(f"{_ADDONS}.efa_device_plugin", "false"),
            rules=("A21",),
        )
    if addons.efa_dra_driver and _minor(architecture.kubernetes_version) < EFA_DRA_MINIMUM_MINOR:
        review.refuse(
            f"{_ADDONS}.efa_dra_driver",
            "asks for the DRA driver for EFA, which the cluster's Kubernetes is too old for",
            found=f"Kubernetes {architecture.kubernetes_version}",
            allowed=f"Kubernetes 1.{EFA_DRA_MINIMUM_MINOR} or later",
            remedy=review.set_command(f"{_ADDONS}.efa_dra_driver", "false"),
            rules=("A21",),
        )
    if not with_efa or addons.efa_device_plugin:
        return
    taints = {taint.key for name in with_efa for taint in architecture.node_groups[name].taints}
    tolerate = f"; it must tolerate the taints {', '.join(sorted(taints))}" if taints else ""
    if addons.efa_dra_driver:
        review.note(
            f"EFA of {', '.join(with_efa)} is handed out by the DRA driver that you install"
            f"{tolerate}"
        )
        return
    review.note(
        f"EFA of {', '.join(with_efa)}: pods get no EFA device and communicate over TCP until you "
        f"install a device plugin of your own{tolerate}"
    )


def _minor(version: str) -> int:
    number = version.partition(".")[2]
    return int(number) if number.isdigit() else 0


def _review_auto_repair(architecture: EksArchitecture, review: Review) -> None:
    """Refuse auto repair of self-managed nodes, and without the node monitoring agent.

    https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
    """
    groups = architecture.node_groups
    repaired = [name for name, group in groups.items() if group.auto_repair]
    for name in repaired:
        if groups[name].management == "self-managed":
            key = f"architecture.node_groups.{groups[name].pool_named(name)}.auto_repair"
            review.refuse(
                key,
                "is on, but EKS repairs nodes of managed groups only; `./trainyard repair STACK "
                "--watch --yes` replaces those of this group unattended",
                found=True,
                allowed="true with `management: managed`",
                remedy=review.set_command(key, "false"),
                rules=("G7",),
            )
    if repaired and not architecture.addons.node_monitoring_agent:
        review.refuse(
            f"{_ADDONS}.node_monitoring_agent",
            (
                f"is off, but {', '.join(repaired)} has `auto_repair`: EKS would see a kubelet "
                "that ended, and no fault of a GPU, of EFA or of the kernel"
            ),
            found=False,
            allowed="true",
            remedy=review.set_command(f"{_ADDONS}.node_monitoring_agent", "true"),
            rules=("G7",),
        )


def _review_observability(config: EksStackConfig, review: Review) -> None:
    architecture = config.architecture
    key = f"{_ADDONS}.cloudwatch_observability"
    if not config.uses_cloudwatch_observability:
        if config.monitoring is not None and config.node_metrics is None:
            review.note(
                f"monitoring: without the CloudWatch Observability add-on, there are no graphs and "
                f"alarms of nodes, accelerators and EFA; install it: "
                f"{review.set_command('monitoring.node_metrics', 'cloudwatch')}"
            )
        return
    unmeasured = sorted(
        name
        for name in {group.instance_type for group in architecture.node_groups.values()}
        if name.partition(".")[0] in _FAMILIES_WITHOUT_GPU_METRICS
        or name in _TYPES_WITHOUT_GPU_METRICS
    )
    if unmeasured:
        review.note(
            f"{key}: the add-on has no GPU metrics of {', '.join(unmeasured)}, which its DCGM "
            "exporter does not run on"
        )


def _review_kueue(architecture: EksArchitecture, review: Review) -> None:
    if not architecture.addons.kueue:
        return
    known = [INSTANCE_TYPES.get(each.instance_type) for each in architecture.node_groups.values()]
    if not any(each and each.accelerators for each in known) and all(known):
        review.refuse(
            f"{_ADDONS}.kueue",
            "installs a queue for jobs on accelerators, and no node group has any",
            found=True,
            allowed="false",
            remedy=review.set_command(f"{_ADDONS}.kueue", "false"),
        )


def _review_versions_of_others(config: EksStackConfig, review: Review) -> None:
    """Refuse versions of add-ons that are not installed."""
    for addon in EKS_ADDONS:
        version = config.architecture.addons.versions.get(addon.name)
        if version is not None and not addon.wanted(config):
            review.refuse(
                f"{KEY}.{addon.name}",
                "has no effect: the add-on is not installed",
                found=version,
                allowed=f"no version of {addon.name}, or the add-on",
                remedy=f"{review.remove_command(f'{KEY}.{addon.name}')}; or install the add-on: "
                f"{review.set_command(f'{_ADDONS}.{addon.key}', 'true')}",
            )


def _review_taints(name: str, group: NodeGroup, config: EksStackConfig, review: Review) -> None:
    for index, taint in enumerate(group.taints):
        key = f"architecture.node_groups.{group.pool_named(name)}.taints[{index}].key"
        driver = STARTUP_TAINTS.get(taint.key)
        if driver and not driver.wanted(config):
            review.refuse(
                key,
                (
                    "is a taint that a driver takes away when it is ready, and the driver is not "
                    "installed; nothing would ever run on the nodes"
                ),
                found=taint.key,
                remedy=(
                    f"{review.set_command(f'{_ADDONS}.{driver.key}', 'true')}, or remove the taint"
                ),
                rules=("G8",),
            )
        if taint.key.partition("/")[0] in _RESERVED_TAINT_NAMESPACES:
            review.refuse(
                key,
                (
                    "is a taint that Kubernetes itself sets and takes away with the node's "
                    "condition; the nodes would lose it, or keep it for good"
                ),
                found=taint.key,
                allowed="keys of your own, `nvidia.com/gpu`, `aws.amazon.com/neuron` and the like",
                remedy="rename the taint, for example to `example.com/…`",
                rules=("G8",),
            )
