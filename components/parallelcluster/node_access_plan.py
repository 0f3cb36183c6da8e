"""Permissions and custom actions of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.catalog.post_install_scripts import script_url
from components.config.parallelcluster_nodes import HeadNode, Queue, S3Access, Script
from components.naming import managed_policy_arns


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPlan:
    """A script that nodes run."""

    url: str
    """`https://` or `s3://`; built-in scripts are pinned to a commit."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccess:
    """Permissions and custom actions of nodes."""

    iam_policies: tuple[str, ...] = ()
    """ARNs of AWS managed policies."""
    s3_access: tuple[S3Access, ...] = ()
    on_node_start: tuple[ScriptPlan, ...] = ()
    on_node_configured: tuple[ScriptPlan, ...] = ()


def plan_access(
    node: HeadNode | Queue, region: str, *, more_policies: Sequence[str] = ()
) -> NodeAccess:
    """Return the policy ARNs, buckets and script URLs of a node.

    Args:
        node: The node in the stack file.
        region: Region of the stack.
        more_policies: Names of AWS managed policies that it needs besides its own.
    """
    return NodeAccess(
        iam_policies=managed_policy_arns((*node.iam_policies, *more_policies), region),
        s3_access=node.s3_access,
        on_node_start=_scripts(node.custom_actions.on_node_start),
        on_node_configured=_scripts(node.custom_actions.on_node_configured),
    )


def _scripts(scripts: Sequence[Script]) -> tuple[ScriptPlan, ...]:
    return tuple(ScriptPlan(url=script_url(s.script), arguments=s.arguments) for s in scripts)
