"""The log group of a control plane, which EKS creates and writes to."""

from __future__ import annotations

from typing import Any

from tests.support.sandbox_aws import Account


def test_eks_creates_a_missing_log_group_and_writes_until_the_cluster_is_gone(
    account: Account,
) -> None:
    logs = account.client("logs")

    def groups() -> list[dict[str, Any]]:
        return logs.describe_log_groups(logGroupNamePrefix="/aws/eks/c/cluster")["logGroups"]

    account.cluster(logging={"clusterLogging": [{"types": [], "enabled": True}]})
    assert groups() == []
    audit = {"clusterLogging": [{"types": ["audit"], "enabled": True}]}
    account.eks.update_cluster_config(name="c", logging=audit)
    (group,) = groups()
    assert "retentionInDays" not in group
    logs.delete_log_group(logGroupName=group["logGroupName"])
    account.eks.delete_cluster(name="c")
    assert len(groups()) == 1
    account.cluster("d", logging=audit)
    made = logs.describe_log_groups(logGroupNamePrefix="/aws/eks/d/")["logGroups"]
    assert [each["logGroupName"] for each in made] == ["/aws/eks/d/cluster"]
