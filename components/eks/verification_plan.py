"""The taint that keeps jobs off nodes until they pass `verify`, and the labels of the result.

The kubelet sets the taint when it registers a new node (`registerWithTaints`), and never again: a
reboot does not bring it back, and a replaced node has it. Taints in the configuration of a managed
node group do not suit it: EKS sets them about half a minute after a node has joined, and changes
them on nodes that run.

Sources:
    https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/#kubelet-config-k8s-io-v1beta1-KubeletConfiguration
    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/kubelet_node_status.go,
        `tryRegisterWithAPIServer`: an existing node keeps its taints
    https://github.com/aws/containers-roadmap/issues/1962: taints of EKS come after the node
    https://github.com/aws-samples/eks-workshop-v2, `configuring-taints.md`: UpdateNodegroupConfig
        changes the taints of existing nodes
"""

from __future__ import annotations

from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.checks.verification_review import REQUIRED
from trainyard.components.config.eks import NodeGroup, Taint
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.review import Review

PREFIX = "trainyard.dev"
UNVERIFIED = Taint(key=f"{PREFIX}/unverified", value="true", effect="NoSchedule")
"""Taint of nodes that have not passed `verify`."""
RESULT_LABEL = f"{PREFIX}/verification"
"""Label of nodes that `verify` has tested: `passed` or `failed`."""
TIME_LABEL = f"{PREFIX}/verification-time"
"""Label with the end of the test in UTC, such as `20261125T140301Z`."""
FAILURE_LABEL = f"{PREFIX}/verification-failure"
"""Label with the failed stages, such as `bandwidth.pairs`; only on nodes that failed."""


def plan_startup_taints(config: EksStackConfig, instance_type: InstanceType) -> tuple[Taint, ...]:
    """Return the taints of new nodes that something removes later."""
    gated = config.verification.required and instance_type.accelerators is not None
    return (UNVERIFIED,) if gated else ()


def review_required_verification(
    key: str, group: NodeGroup, found: InstanceType, config: EksStackConfig, review: Review
) -> None:
    """Refuse nodes that would stay closed because `verify` cannot test them.

    Args:
        key: Key of the node group.
        group: The node group.
        found: Its instance type.
        config: The stack file.
        review: The problems.
    """
    for index, taint in enumerate(group.taints):
        if taint.key == UNVERIFIED.key:
            review.refuse(
                f"{key}.taints[{index}].key",
                "is the taint that `verify` removes; EKS would set it again",
                found=taint.key,
                remedy=f"remove the taint; `{REQUIRED}: true` sets it on new nodes only",
                rules=("G8",),
            )
    if not config.verification.required or found.accelerators is None:
        return
    off = review.set_command(REQUIRED, "false")
    if found.architecture != "x86_64":
        review.refuse(
            f"{key}.instance_type",
            f"is an ARM type, for which `verify` has no image; with `{REQUIRED}`, no job would "
            "ever run on the nodes",
            found=found.name,
            allowed="a type with an x86_64 processor",
            remedy=off,
            rules=("G8",),
        )
    if group.efa_enabled and not config.architecture.addons.efa_device_plugin:
        review.refuse(
            f"{key}.efa_enabled",
            "is on without `addons.efa_device_plugin`, which the test of `verify` asks for EFA; "
            f"with `{REQUIRED}`, no job would ever run on the nodes",
            found=True,
            allowed="true with `addons.efa_device_plugin`",
            remedy=off,
            rules=("G8",),
        )
