"""Permissions and custom actions of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from components.catalog.post_install_scripts import script_url
from components.config.parallelcluster_nodes import HeadNode, Queue, Script
from components.naming import managed_policy_arns
from components.parallelcluster.plan import NodeAccess, ScriptPlan


def plan_access(node: HeadNode | Queue, region: str) -> NodeAccess:
    """Return the policy ARNs, buckets and script URLs of a node."""
    return NodeAccess(
        iam_policies=managed_policy_arns(node.iam_policies, region),
        s3_access=node.s3_access,
        on_node_start=_scripts(node.custom_actions.on_node_start),
        on_node_configured=_scripts(node.custom_actions.on_node_configured),
    )


def _scripts(scripts: Sequence[Script]) -> tuple[ScriptPlan, ...]:
    return tuple(ScriptPlan(url=script_url(s.script), arguments=s.arguments) for s in scripts)
