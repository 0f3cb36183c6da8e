"""The cluster placement group."""

from trainyard.components.compute.placement_group import (
    ClusterPlacementGroup,
    ClusterPlacementGroupArgs,
)


def group():
    args = ClusterPlacementGroupArgs(tags={"team": "vision"})
    return ClusterPlacementGroup("dev-g4dn-placement", args)


def test_instances_are_packed_together(deploy):
    """EKX-06: the cluster strategy."""
    cloud = deploy(group)
    made = cloud.one("dev-g4dn-placement-group")
    assert made.inputs["strategy"] == "cluster"
    assert made.inputs["tags"] == {"Name": "dev-g4dn-placement", "team": "vision"}
    assert made.parent in cloud.closed
