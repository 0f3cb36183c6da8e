"""Labels and taints of nodes, and those with which `verify` marks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.config.eks import EksStackConfig, NodeGroup, Taint
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import REQUIRED

# Labels and taints that a kubelet may set on its own node, and that EKS takes.
#
# Source:
# https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction and
# `IsKubeletLabel` of
# https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go


LONGEST_KEY = 63
MOST_TAINTS = 50
_KUBERNETES_NAMESPACES = ("kubernetes.io", "k8s.io")
_KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBELET_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
    }
)
_CONTROLLERS = {
    "kubernetes.io/hostname": "the kubelet",
    "kubernetes.io/arch": "the kubelet",
    "kubernetes.io/os": "the kubelet",
    "topology.kubernetes.io/region": "the cloud provider of AWS",
    "topology.kubernetes.io/zone": "the cloud provider of AWS",
    "failure-domain.beta.kubernetes.io/region": "the cloud provider of AWS",
    "failure-domain.beta.kubernetes.io/zone": "the cloud provider of AWS",
    "node.kubernetes.io/instance-type": "the cloud provider of AWS",
    "node.kubernetes.io/exclude-from-external-load-balancers": "the load balancer controller",
    "beta.kubernetes.io/arch": "the kubelet",
    "beta.kubernetes.io/instance-type": "the cloud provider of AWS",
    "beta.kubernetes.io/os": "the kubelet",
    "topology.k8s.aws": "the cloud provider of AWS",
    "eks.amazonaws.com": "EKS",
    "karpenter.sh": "Karpenter",
    "karpenter.k8s.aws": "Karpenter",
    "topology.ebs.csi.aws.com": "the EBS CSI driver",
    "vpc.amazonaws.com": "the VPC resource controller",
    "trainyard.dev": "this program",
}
"""Controllers, by the label or the namespace of labels that they own on nodes.

Sources:
    https://kubernetes.io/docs/reference/labels-annotations-taints/
    https://karpenter.sh/docs/concepts/scheduling/#well-known-labels
    https://docs.aws.amazon.com/eks/latest/userguide/node-topology.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, `labels`
"""
EFA_LABEL = "vpc.amazonaws.com/efa.present"
"""`false` on nodes without EFA interfaces beside nodes of the same type that have them.

Source of the key: https://github.com/clowdhaus/aws-eks-efa-test, `helm.tf`
"""
_OF_USERS = frozenset({"karpenter.sh/controller", EFA_LABEL})
"""Labels of these namespaces that users set: on the nodes for the pods of Karpenter itself, as in
https://github.com/terraform-aws-modules/terraform-aws-eks, `examples/karpenter`; and `true` on
nodes with EFA, as in https://github.com/aws-ia/terraform-aws-eks-blueprints,
`patterns/nvidia-gpu-efa`."""


def review_labels(review: Review, key: str, labels: Mapping[str, str]) -> None:
    """Refuse labels that prevent the kubelet from starting, so that the node never joins."""
    for label in labels:
        if not kubelet_may_set(label):
            review.refuse(
                f"{key}.labels",
                (
                    "has a label in a namespace of Kubernetes that a kubelet may not set; it "
                    "would not start, and the node would never join"
                ),
                found=label,
                allowed="labels of your own namespace, or of node.kubernetes.io",
                remedy=_renamed(key, label, review),
            )
        elif owner := _owner(label):
            review.refuse(
                f"{key}.labels",
                f"has a label that {owner} owns: it writes or removes the label, or takes the "
                "nodes for its own",
                found=label,
                allowed="labels of your own namespace",
                remedy=_renamed(key, label, review),
            )


def _renamed(key: str, label: str, review: Review) -> str:
    remove = review.remove_command(f'{key}.labels["{label}"]')
    return f"{remove}, and give the label another name, such as `example.com/…`"


def _owner(label: str) -> str | None:
    """Return the controller that sets and removes a label of nodes, or None."""
    if label in _OF_USERS:
        return None
    namespace = label.rpartition("/")[0]
    for parent, owner in _CONTROLLERS.items():
        if label == parent or _within(namespace, (parent,)):
            return owner
    return None


def kubelet_may_set(label: str) -> bool:
    """Return whether a kubelet starts with this label in `--node-labels`."""
    namespace = label.rpartition("/")[0]
    if label in _KUBELET_LABELS or _within(namespace, _KUBELET_NAMESPACES):
        return True
    return not _within(namespace, _KUBERNETES_NAMESPACES)


def _within(namespace: str, parents: Iterable[str]) -> bool:
    return any(namespace == parent or namespace.endswith(f".{parent}") for parent in parents)


def review_managed(
    review: Review, key: str, labels: Mapping[str, str], taints: Sequence[Taint] = ()
) -> None:
    """Refuse labels and taints of a managed node group that EKS refuses, and Kubernetes does not.

    Sources:
        https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, `labels`
        https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html
        https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html
    """
    long = [each for each in (*labels, *(taint.key for taint in taints)) if len(each) > LONGEST_KEY]
    empty = [each for each, value in labels.items() if not value]
    for found, problem, allowed, remedy in (
        (
            long,
            f"has a key of more than {LONGEST_KEY} characters, which EKS refuses",
            f"keys of at most {LONGEST_KEY} characters, a prefix included",
            "shorten the key",
        ),
        (
            empty,
            "has a label without a value, which EKS refuses for a managed node group",
            "values of 1 to 63 characters",
            "give the label a value: "
            + " and ".join(review.set_command(f'{key}.labels["{each}"]', "true") for each in empty),
        ),
    ):
        if found:
            section = "labels" if found[0] in labels else "taints"
            review.refuse(
                f"{key}.{section}",
                problem,
                found=", ".join(found),
                allowed=allowed,
                remedy=remedy,
            )
    if len(taints) > MOST_TAINTS:
        review.refuse(
            f"{key}.taints",
            "has more taints than a managed node group can have",
            found=len(taints),
            allowed=f"at most {MOST_TAINTS}",
            remedy="remove taints",
        )


def review_taints(review: Review, key: str, taints: Iterable[Taint]) -> None:
    """Refuse two taints with the same key and effect, of which Kubernetes keeps one."""
    counted = Counter((taint.key, taint.effect) for taint in taints)
    for (taint, effect), count in counted.items():
        if count > 1:
            review.refuse(
                f"{key}.taints",
                "has two taints with the same key and effect, of which Kubernetes keeps one",
                found=f"{taint}:{effect}",
                remedy="remove one of them",
                rules=("G8",),
            )


# The taint that keeps jobs off nodes until they pass `verify`, and the labels of the result.
#
# The kubelet sets the taint when it registers a new node (`registerWithTaints`), and never again: a
# reboot does not bring it back, and a replaced node has it. Taints in the configuration of a
# managed node group do not suit it: EKS sets them about half a minute after a node has joined, and
# changes them on nodes that run.
#
# Sources:
#     https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/#kubelet-config-k8s-io-v1beta1-KubeletConfiguration
#     https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/kubelet_node_status.go,
#         `tryRegisterWithAPIServer`: an existing node keeps its taints
#     https://github.com/aws/containers-roadmap/issues/1962: taints of EKS come after the node
#     https://github.com/aws-samples/eks-workshop-v2, `configuring-taints.md`:
#     UpdateNodegroupConfig
#         changes the taints of existing nodes


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
