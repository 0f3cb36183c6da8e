"""Labels and taints that a kubelet may set on its own node, and that EKS takes.

Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
and `IsKubeletLabel` of https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from trainyard.components.config.eks import Taint
from trainyard.components.config.review import Review

LONGEST_KEY = 63
MOST_TAINTS = 50
_EKS_NAMESPACE = "eks.amazonaws.com"
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
                remedy="rename the label, for example to `example.com/…`",
            )


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
        https://github.com/aws/containers-roadmap/issues/1451, for the reserved prefix
    """
    long = [each for each in (*labels, *(taint.key for taint in taints)) if len(each) > LONGEST_KEY]
    reserved = [each for each in labels if _within(each.rpartition("/")[0], (_EKS_NAMESPACE,))]
    empty = [each for each, value in labels.items() if not value]
    for found, problem, allowed, remedy in (
        (
            long,
            f"has a key of more than {LONGEST_KEY} characters, which EKS refuses",
            f"keys of at most {LONGEST_KEY} characters, a prefix included",
            "shorten the key",
        ),
        (
            reserved,
            f"has a label of {_EKS_NAMESPACE}, which EKS refuses because it sets these itself",
            "labels of your own namespace",
            "rename the label, for example to `example.com/…`",
        ),
        (
            empty,
            "has a label without a value, which EKS refuses for a managed node group",
            "values of 1 to 63 characters",
            'give the label a value, such as "true"',
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
