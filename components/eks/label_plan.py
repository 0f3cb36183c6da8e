"""Labels and taints that a kubelet may set on its own node.

Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
and `IsKubeletLabel` of https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from components.config.eks import Taint
from components.config.review import Review

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
            )
