"""Tags of every resource of a stack.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

CLUSTER_TAG = "trainyard:cluster"
"""Key of the tag with the cluster of a resource."""
RESERVATION_TAG = "trainyard:reservation"
"""Key of the tag with the entry of `reservations` for which the stack created a reservation."""
RESOURCE_TAG = "trainyard:resource"
"""Key of the tag with the stack and the resource of an object."""
NODE_METRICS_TAG = "trainyard:node-metrics"
"""Key of the tag with what the CloudWatch agent of a Slurm node measures."""
EKS_CLUSTER_TAG = "eks:cluster-name"
"""Key of the tag that EKS adds to the instances of a managed node group.
https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html"""
PARALLELCLUSTER_TAG = "parallelcluster:cluster-name"
PARALLELCLUSTER_NODE_TAG = "parallelcluster:node-type"
"""Keys of tags that ParallelCluster adds: the cluster, and `HeadNode`, `Compute` or `LoginNode`.
https://docs.aws.amazon.com/parallelcluster/latest/ug/Tags-v3.html"""

MAX_TAGS = 50
"""Tags that AWS allows on one resource."""
OWN_TAGS = 10
"""Maximum tags that the program and the providers add to one resource."""
MAX_KEY_LENGTH = 128
MAX_VALUE_LENGTH = 256

_CONTROLLERS = {
    "kubernetes.io/cluster/": "the load balancer controller",
    "kubernetes.io/role/": "the load balancer controller",
    "kubernetes.io/created-for/": "the EBS CSI driver",
    "KubernetesCluster": "the cloud provider of AWS",
    "elbv2.k8s.aws/": "the load balancer controller",
    "ingress.k8s.aws/": "the load balancer controller",
    "service.k8s.aws/": "the load balancer controller",
    "ebs.csi.aws.com/": "the EBS CSI driver",
    "eks:": "EKS",
    "karpenter.sh/managed-by": "Karpenter",
    "karpenter.sh/nodeclaim": "Karpenter",
    "karpenter.sh/nodepool": "Karpenter",
    "karpenter.k8s.aws/": "Karpenter",
    "AWSBatchServiceTag": "AWS Batch",
}
"""Controllers, by the begin of tag keys with which they mark what they own. A security group too
many with `kubernetes.io/cluster/` is an error of the load balancer controller, for example.

Sources:
    https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/subnet_discovery/
    https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
    https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/tagging.md
    https://karpenter.sh/docs/concepts/nodeclasses/#spectags
    https://docs.aws.amazon.com/batch/latest/userguide/using-tags.html
"""
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9 +\-=._:/@]")
_NOT_IN_TAGS_OF_ROLES = re.compile(r"[^\w +\-=.:/@]")
_HASH_DIGITS = 16


def common_tags(cluster_name: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the user tags and the cluster tag, by key."""
    return {**tags, CLUSTER_TAG: cluster_name}


def resource_tag(*, stack: str, project: str, type_token: str, name: str) -> str:
    """Return the value of `RESOURCE_TAG` for a resource of a stack.

    It is the resource's URN without its parent types, which is still unique in a stack, with only
    the characters that all services allow. A value that is too long or had other characters ends
    with a hash of the whole value, so that it stays unique.

    Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    (characters and lengths that are safe in all services)
    """
    whole = f"{stack}::{project}::{type_token}::{name}"
    allowed = _NOT_ALLOWED.sub("_", whole)
    if allowed == whole and len(whole) <= MAX_VALUE_LENGTH:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{allowed[: MAX_VALUE_LENGTH - _HASH_DIGITS - 1]}-{digest}"


def resource_tag_prefix(*, stack: str, project: str) -> str:
    """Return the common prefix of the `RESOURCE_TAG` values of a stack."""
    return _NOT_ALLOWED.sub("_", f"{stack}::{project}::")


def creator_of(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the stack and the cluster in the tags of an object, or None without such tags.

    The stack is empty for children of the `eks` plugin, which have no `RESOURCE_TAG`.
    """
    stack = tags.get(RESOURCE_TAG, "").partition("::")[0]
    cluster = tags.get(CLUSTER_TAG, "")
    return (stack, cluster) if stack or cluster else None


def tag_map(tags: list[Mapping[str, str]] | Mapping[str, str] | None) -> dict[str, str]:
    """Return the tags in a response of AWS by key: some services list them, others map them."""
    if isinstance(tags, Mapping):
        return dict(tags)
    return {tag["Key"]: tag["Value"] for tag in tags or ()}


def tag_fault(key: str, value: str) -> str | None:
    """Return why every service of AWS would refuse a user tag, or None."""
    if key.lower().startswith("aws:"):
        return "begins with `aws:`, which AWS keeps for itself"
    owner = next((owner for start, owner in _CONTROLLERS.items() if key.startswith(start)), None)
    if owner is not None:
        return f"{owner} finds its own resources by; on every resource of the stack it is wrong"
    if key in {CLUSTER_TAG, RESOURCE_TAG, NODE_METRICS_TAG}:
        return "is set by the program itself"
    if len(key) > MAX_KEY_LENGTH:
        return f"is longer than {MAX_KEY_LENGTH} characters"
    if len(value) > MAX_VALUE_LENGTH:
        return f"has a value of more than {MAX_VALUE_LENGTH} characters"
    return None


def role_tag_fault(key: str, value: str, earlier: Iterable[str]) -> str | None:
    """Return why IAM would refuse a user tag of a role, or None.

    EC2 accepts any character, and keys that differ only in case. The program tags every resource
    alike.

    Args:
        key: Key of the tag.
        value: Value of the tag.
        earlier: Keys of other tags of the role.

    Sources:
        https://docs.aws.amazon.com/IAM/latest/APIReference/API_Tag.html, `Key` and `Value`
        https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html, "Case sensitivity"
    """
    for part, text in (("key", key), ("value", value)):
        wrong = _NOT_IN_TAGS_OF_ROLES.search(text)
        if wrong:
            return f"has the character `{wrong[0]}` in its {part}, which IAM refuses"
    same = next((other for other in earlier if other.lower() == key.lower()), None)
    if same is not None:
        return f"has the key of another tag, `{same}`: IAM does not distinguish case"
    return None
