"""The log group of a control plane, which EKS creates if it is missing.

The role `AWSServiceRoleForAmazonEKS` may create groups below `/aws/eks/`, and writes events until
the cluster is gone: a group that is deleted before the cluster exists again, without a retention
time and without tags. The events themselves are not emulated.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSServiceRolePolicy.html
    https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2763
"""

from __future__ import annotations

from moto.logs.models import LogsBackend, logs_backends

from trainyard.sandbox.aws.eks.store import Cluster


def ensure_log_group(cluster: Cluster, account_id: str, region: str) -> None:
    """Create the log group of a cluster that sends logs, if it does not exist."""
    logs: LogsBackend = logs_backends[account_id][region]
    # One entry has the enabled types, which can be none, and one the others.
    given = cluster.fields["logging"]["clusterLogging"]
    if any(each.get("enabled") and each.get("types") for each in given):
        logs.ensure_log_group(f"/aws/eks/{cluster.name}/cluster")
