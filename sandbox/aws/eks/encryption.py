"""AssociateEncryptionConfig: adds an encryption key for secrets to an existing cluster.

https://docs.aws.amazon.com/eks/latest/APIReference/API_AssociateEncryptionConfig.html
"""

from __future__ import annotations

from moto.core.responses import ActionResult

from sandbox.aws.eks.cluster_updates import ClusterUpdateCalls, record_update
from sandbox.aws.eks.encryption_key import Encryption, check_encryption
from sandbox.aws.eks.errors import invalid_request


class EncryptionCalls(ClusterUpdateCalls):
    """The call that adds a key to a cluster; mixed into the EKS response class."""

    def associate_encryption_config(self) -> ActionResult:
        """AssociateEncryptionConfig: only once per cluster."""
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
