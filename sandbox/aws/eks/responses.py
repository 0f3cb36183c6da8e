"""The EKS response class."""

from __future__ import annotations

from sandbox.aws.eks.access_entries import AccessEntryCalls
from sandbox.aws.eks.addons import AddonCalls
from sandbox.aws.eks.clusters import ClusterCalls
from sandbox.aws.eks.encryption import EncryptionCalls
from sandbox.aws.eks.node_groups import NodeGroupCalls
from sandbox.aws.eks.tags import TagCalls


class SandboxEksResponse(
    ClusterCalls, NodeGroupCalls, AccessEntryCalls, AddonCalls, EncryptionCalls, TagCalls
):
    """Handles EKS's calls; others are reported as not implemented."""
