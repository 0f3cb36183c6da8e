"""Policies by ARN, scripts by address."""

from __future__ import annotations

from trainyard.components.config.parallelcluster import CustomActions, HeadNode, S3Access, Script
from trainyard.components.parallelcluster.node_scripts import head_node_key, plan_access


def test_built_in_scripts_are_in_the_bucket_of_the_stack_and_others_where_they_are():
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
    (pyxis,) = access.on_node_configured
    assert (pyxis.built_in, pyxis.key, pyxis.url) == ("pyxis", head_node_key("pyxis"), "")
    assert pyxis.arguments == ("/fsx",)
    assert access.built_in_scripts == (pyxis,)
    assert access.iam_policies[0].startswith("arn:aws-cn:iam::aws:policy/")
    assert access.s3_access == node.s3_access
