"""A log group of a cluster, new or adopted.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/cloudwatch/loggroup/
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from trainyard.components.eks.plan import LogGroupPlan

KEPT_BY_ADOPTED = ("tags", "kmsKeyId", "logGroupClass")
"""Settings of an adopted group that the stack leaves as they are. Another class would replace it.
"""


def make_log_group(
    plan: LogGroupPlan, tags: Mapping[str, str], parent: pulumi.Resource
) -> aws.cloudwatch.LogGroup:
    """Return the log group, which has the name of the resource.

    An adopted group is imported by the first update. It never gets the tags of the stack, so that
    later updates also know that it was adopted.
    """
    return aws.cloudwatch.LogGroup(
        plan.name,
        name=plan.name,
        retention_in_days=plan.retention_days,
        tags=dict(tags),
        opts=pulumi.ResourceOptions(
            parent=parent,
            import_=plan.name if plan.adopted else None,
            ignore_changes=[*KEPT_BY_ADOPTED] if plan.adopted else None,
        ),
    )
