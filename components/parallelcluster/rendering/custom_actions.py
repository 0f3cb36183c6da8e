"""The sections `Iam` and `CustomActions` of head node and queues.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html and
https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.config.parallelcluster_nodes import S3Access
from trainyard.components.parallelcluster.node_access_plan import NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.node_scripts import PREFIX
from trainyard.components.parallelcluster.references import Reference

ACCESS_KEYS: Mapping[str, str] = {
    "CustomActions": "custom_actions",
    "CustomActions.OnNodeStart": "custom_actions.on_node_start",
    "CustomActions.OnNodeConfigured": "custom_actions.on_node_configured",
    "Iam": "iam_policies",
    "Iam.S3Access": "s3_access",
}
"""Stack file key of each setting that head node and queues share."""


def render_access(access: NodeAccess) -> dict[str, Any]:
    """Return the sections `CustomActions` and `Iam` of a node, if not empty."""
    sections = {"CustomActions": _custom_actions(access), "Iam": _iam(access)}
    return {name: section for name, section in sections.items() if section}


def _custom_actions(access: NodeAccess) -> dict[str, Any]:
    actions = {"OnNodeStart": access.on_node_start, "OnNodeConfigured": access.on_node_configured}
    return {
        name: {"Sequence": [_script(script) for script in scripts]}
        for name, scripts in actions.items()
        if scripts
    }


def _script(script: ScriptPlan) -> dict[str, Any]:
    address = Reference("node-script", script.key) if script.built_in else script.url
    rendered: dict[str, Any] = {"Script": address}
    return {**rendered, "Args": list(script.arguments)} if script.arguments else rendered


def _iam(access: NodeAccess) -> dict[str, Any]:
    iam: dict[str, Any] = {}
    if access.iam_policies:
        iam["AdditionalIamPolicies"] = [{"Policy": arn} for arn in access.iam_policies]
    s3_access = [_s3_access(each) for each in access.s3_access]
    if access.built_in_scripts:
        s3_access.append(
            {
                "BucketName": Reference("script-bucket", f"{PREFIX}*"),
                "KeyName": f"{PREFIX}*",
                "EnableWriteAccess": False,
            }
        )
    if s3_access:
        iam["S3Access"] = s3_access
    return iam


def _s3_access(access: S3Access) -> dict[str, Any]:
    return {
        "BucketName": access.bucket,
        **({"KeyName": access.key} if access.key is not None else {}),
        "EnableWriteAccess": access.write,
    }
