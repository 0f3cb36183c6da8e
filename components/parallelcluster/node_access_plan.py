"""What nodes may do, and what they run when they start."""

from __future__ import annotations

from collections.abc import Sequence

from components.catalog.post_install_scripts import script_url
from components.config.parallelcluster import HeadNode, Queue, Script
from components.parallelcluster.plan import NodeAccess, ScriptPlan


def plan_access(node: HeadNode | Queue, region: str) -> NodeAccess:
    """Return policies by their ARNs, buckets, and scripts by their addresses."""
    return NodeAccess(
        iam_policies=tuple(
            f"arn:{partition(region)}:iam::aws:policy/{name}" for name in node.iam_policies
        ),
        s3_access=node.s3_access,
        on_node_start=_scripts(node.custom_actions.on_node_start),
        on_node_configured=_scripts(node.custom_actions.on_node_configured),
    )


def partition(region: str) -> str:
    """Return the partition that a region belongs to, the second part of ARNs there.

    https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
    """
    prefixes = {
        "cn-": "aws-cn",
        "us-gov-": "aws-us-gov",
        "us-iso-": "aws-iso",
        "us-isob-": "aws-iso-b",
    }
    found = (name for prefix, name in prefixes.items() if region.startswith(prefix))
    return next(found, "aws")


def _scripts(scripts: Sequence[Script]) -> tuple[ScriptPlan, ...]:
    return tuple(ScriptPlan(url=script_url(s.script), arguments=s.arguments) for s in scripts)
