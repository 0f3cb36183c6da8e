"""Log groups that exist under the name of the group of a control plane, which the stack adopts.

EKS creates a missing group without a retention time: when logs are turned on, and after a deletion
for the last events of the deleted cluster.

Sources:
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSServiceRolePolicy.html,
        `logs:CreateLogGroup`
    https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2446 and issues/2763
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.named_facts import LogGroupFacts
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.problems import ROOT
from trainyard.components.eks.log_group_plan import NEW_RETENTION_DAYS
from trainyard.components.eks.plan import EksPlan
from trainyard.components.tagging import creator_of


def adopted_log_groups(facts: AccountFacts, now: datetime) -> dict[str, int]:
    """Return the log groups of no stack, with the days to keep their events, by name.

    A group that keeps its events forever gets the retention of a new one if it is younger.
    """
    oldest = now - timedelta(days=NEW_RETENTION_DAYS)
    return {
        name: found.retention_days or (NEW_RETENTION_DAYS if found.created_at > oldest else 0)
        for (_, name), found in facts.named.items()
        if isinstance(found, LogGroupFacts) and creator_of(found.tags) is None
    }


def log_group_warnings(config: EksStackConfig, plan: EksPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield what the adoption of a log group means for the logs that it has."""
    group = plan.log_group
    if group is None or not group.adopted:
        return
    if facts.cluster is None and facts.could_read("eks:DescribeCluster"):
        yield (
            f"the log group {group.name} exists, and becomes part of the stack with the logs of "
            "an earlier cluster of this name: `destroy` deletes them. To keep them, export them, "
            "or set `name` to another name"
        )
    if group.retention_days == 0 and config.architecture.log_retention_days is None:
        yield (
            f"the log group {group.name} keeps logs forever, which AWS charges for; set "
            f"`{ROOT}.architecture.log_retention_days` to the days to keep them, such as "
            f"{NEW_RETENTION_DAYS}, or to 0 if this is wanted"
        )
