"""Policies by ARN, scripts by address."""

from __future__ import annotations

from components.catalog.post_install_scripts import script_url
from components.config.parallelcluster_nodes import CustomActions, HeadNode, S3Access, Script
from components.parallelcluster.node_access_plan import plan_access


def test_scripts_of_the_program_are_pinned_and_others_kept():
    """PCx-07."""
    node = HeadNode(
        s3_access=(S3Access(bucket="training-scripts"),),
        custom_actions=CustomActions(
            on_node_start=(Script(script="s3://training-scripts/a.sh"),),
            on_node_configured=(Script(script="pyxis", arguments=("/fsx",)),),
        ),
    )
    access = plan_access(node, "cn-north-1")
    assert access.on_node_start[0].url == "s3://training-scripts/a.sh"
    assert access.on_node_configured[0].url == script_url("pyxis")
    assert access.on_node_configured[0].arguments == ("/fsx",)
    assert access.iam_policies[0].startswith("arn:aws-cn:iam::aws:policy/")
    assert access.s3_access == node.s3_access
