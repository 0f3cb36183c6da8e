"""EKS's validation of the KMS key that encrypts a cluster's secrets.

https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.kms.models import kms_backends

from trainyard.sandbox.aws.eks.errors import invalid_parameter

Encryption = Sequence[Mapping[str, Any]]


def check_encryption(account_id: str, region: str, wanted: Encryption, cluster_name: str) -> None:
    """Reject a key that EKS cannot use.

    Raises:
        InvalidParameterException: it is not an existing, enabled symmetric key in this region.
    """
    for config in wanted:
        if list(config.get("resources", [])) != ["secrets"]:
            invalid_parameter(
                "The only supported value of resources is secrets", clusterName=cluster_name
            )
        arn = config.get("provider", {}).get("keyArn", "")
        key = kms_backends[account_id][region].keys.get(arn.rpartition("/")[2])
        if key is None or key.arn != arn:
            invalid_parameter(
                f"The keyArn in encryptionConfig provider, {arn}, does not exist in {region}",
                clusterName=cluster_name,
            )
        if not key.enabled or key.key_spec != "SYMMETRIC_DEFAULT":
            invalid_parameter(
                f"The keyArn in encryptionConfig provider, {arn}, is not an enabled symmetric key",
                clusterName=cluster_name,
            )
