"""Permissions and custom actions of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainyard.components.catalog.post_install_scripts import POST_INSTALL_SCRIPTS
from trainyard.components.config.parallelcluster_nodes import HeadNode, Queue, S3Access, Script
from trainyard.components.naming import managed_policy_arns
from trainyard.components.parallelcluster.node_scripts import VERIFIED, head_node_key, queue_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptPlan:
    """A script that nodes run: at a URL of the user, or in the bucket of the stack."""

    url: str = ""
    """`https://` or `s3://`; empty for a built-in script."""
    built_in: str = ""
    """Name of a built-in script, or `VERIFIED`; empty for another one."""
    key: str = ""
    """Key of a built-in script in the bucket of the stack."""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAccess:
    """Permissions and custom actions of nodes."""

    iam_policies: tuple[str, ...] = ()
    """ARNs of AWS managed policies."""
    s3_access: tuple[S3Access, ...] = ()
    on_node_start: tuple[ScriptPlan, ...] = ()
    on_node_configured: tuple[ScriptPlan, ...] = ()

    @property
    def built_in_scripts(self) -> tuple[ScriptPlan, ...]:
        """The scripts that the nodes read from the bucket of the stack."""
        scripts = (*self.on_node_start, *self.on_node_configured)
        return tuple(each for each in scripts if each.built_in)


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
        on_node_start=_scripts(node, node.custom_actions.on_node_start),
        on_node_configured=_scripts(node, node.custom_actions.on_node_configured),
    )


def _scripts(node: HeadNode | Queue, scripts: Sequence[Script]) -> tuple[ScriptPlan, ...]:
    key_of = head_node_key if isinstance(node, HeadNode) else queue_key
    return tuple(_script(each, key_of) for each in scripts)


def _script(script: Script, key_of: Callable[[str], str]) -> ScriptPlan:
    name, arguments = script.script, script.arguments
    if script.sha256 is not None:
        name, arguments = VERIFIED, (script.script, script.sha256, *script.arguments)
    elif name not in POST_INSTALL_SCRIPTS:
        return ScriptPlan(url=name, arguments=arguments)
    return ScriptPlan(built_in=name, key=key_of(name), arguments=arguments)
