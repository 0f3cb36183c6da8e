"""The control plane of an EKS cluster sends its audit log to CloudWatch.

Why:
    Only the audit log shows who used a node role, read a secret or drained a node pool, and only
    from the time it is enabled. CloudWatch charges for ingestion.
Fix:
    Add `audit` to `enabled_cluster_log_types` (in a stack file: `log_types`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.resources.types import EKS_CLUSTER
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    kinds = facts.values("enabledClusterLogTypes")
    if facts.get("enabledClusterLogTypes") is UNKNOWN or UNKNOWN in kinds or "audit" in kinds:
        return
    yield (
        "it has no audit log, so there is no record of API requests; add audit to "
        "enabled_cluster_log_types (in a stack file: log_types)"
    )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["kubernetes", "baseline", "H5"],
    types=(EKS_CLUSTER,),
    check=_check,
)
