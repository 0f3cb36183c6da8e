"""The EKS response class."""

from __future__ import annotations

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.eks.access import AccessEntryCalls
from trainyard.sandbox.aws.eks.addons import AddonCalls
from trainyard.sandbox.aws.eks.clusters import (
    ClusterCalls,
    ClusterUpdateCalls,
    Encryption,
    check_encryption,
    record_update,
)
from trainyard.sandbox.aws.eks.node_groups import NodeGroupCalls
from trainyard.sandbox.aws.eks.store import EksBase, Tags, invalid_request, not_found


class EncryptionCalls(ClusterUpdateCalls):
    """The call that adds a key to a cluster; mixed into the EKS response class."""

    def associate_encryption_config(self) -> ActionResult:
        """AssociateEncryptionConfig: only once per cluster.

        https://docs.aws.amazon.com/eks/latest/APIReference/API_AssociateEncryptionConfig.html
        """
        cluster = self.active_cluster(self.params["clusterName"])
        if cluster.fields.get("encryptionConfig"):
            invalid_request(
                "Encryption is already enabled with key "
                f"{cluster.fields['encryptionConfig'][0]['provider']['keyArn']}; it can be "
                "neither changed nor disabled",
                clusterName=cluster.name,
            )
        wanted: Encryption = self.params["encryptionConfig"]
        check_encryption(self.current_account, self.region, wanted, cluster.name)
        cluster.fields["encryptionConfig"] = wanted
        changes = {"EncryptionConfig": wanted}
        update = record_update(cluster, "AssociateEncryptionConfig", changes)
        return ActionResult({"update": update})


class AbsentPartCalls(EksBase):
    """Lists of parts that no cluster has, because the sandbox does not support their creation."""

    def list_fargate_profiles(self) -> ActionResult:
        """ListFargateProfiles."""
        self.store.cluster(self.params["clusterName"])
        return ActionResult({"fargateProfileNames": []})

    def list_identity_provider_configs(self) -> ActionResult:
        """ListIdentityProviderConfigs."""
        self.store.cluster(self.params["clusterName"])
        return ActionResult({"identityProviderConfigs": []})


class TagCalls(EksBase):
    """Calls on tags; mixed into the EKS response class."""

    def tag_resource(self) -> EmptyResult:
        """TagResource."""
        self._tags().update(self.params["tags"])
        return EmptyResult()

    def untag_resource(self) -> EmptyResult:
        """UntagResource."""
        tags = self._tags()
        for key in self.params["tagKeys"]:
            tags.pop(key, None)
        return EmptyResult()

    def list_tags_for_resource(self) -> ActionResult:
        """ListTagsForResource."""
        return ActionResult({"tags": self._tags()})

    def _tags(self) -> Tags:
        arn, by_arn = self.params["resourceArn"], self.store.tags_by_arn()
        if arn not in by_arn:
            not_found(f"No resource found for ARN: {arn}")
        return by_arn[arn]


class SandboxEksResponse(
    ClusterCalls,
    NodeGroupCalls,
    AccessEntryCalls,
    AddonCalls,
    EncryptionCalls,
    AbsentPartCalls,
    TagCalls,
):
    """Handles EKS's calls; others are reported as not implemented."""
