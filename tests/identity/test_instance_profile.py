"""The instance profile of self-managed nodes."""

from trainyard.components.identity.node_role import NodeInstanceProfile, NodeInstanceProfileArgs


def profile():
    args = NodeInstanceProfileArgs(role_name="p5-role", tags={"team": "vision"})
    return NodeInstanceProfile("p5-cb-p5-instance", args)


def test_the_profile_holds_the_role(deploy):
    """EKN-06, EKN-15."""
    cloud = deploy(profile)
    made = cloud.one("p5-cb-p5-instance-profile")
    assert made.inputs == {"role": "p5-role", "tags": {"team": "vision"}}
    assert made.parent in cloud.closed
