"""An EKS cluster keeps its audit log.

Why:
    Who took a node's role, read a secret or drained a pool stands in the audit log and nowhere
    else, and what happened before it was turned on is gone. CloudWatch bills for what it takes.
Fix:
    Add `audit` to `enabled_cluster_log_types` (in a stack file: `log_types`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts
from policies.resources.types import EKS_CLUSTER
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    kinds = facts.values("enabledClusterLogTypes")
    if facts.get("enabledClusterLogTypes") is UNKNOWN or UNKNOWN in kinds or "audit" in kinds:
        return
    yield (
        "it keeps no audit log, so nothing tells later who did what in the cluster; add audit to "
        "enabled_cluster_log_types (in a stack file: log_types)"
    )


POLICY = ResourceValidationPolicy(
    name="eks-audit-log",
    display_name="EKS clusters keep their audit log",
    description="The control plane of an EKS cluster sends its audit log to CloudWatch.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["security", "kubernetes", "baseline", "H5"],
    remediation_steps="Add audit to enabled_cluster_log_types.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
    validate=on_types(EKS_CLUSTER, check=_check),
)
