"""Access entries for the roles of self-managed nodes."""

from components.eks.node_access_entry import NodeAccessEntry, NodeAccessEntryArgs


def entry():
    args = NodeAccessEntryArgs(cluster_name="p5-cb", role_arn="arn:role", tags={"team": "vision"})
    NodeAccessEntry("p5-cb-p5-access", args)


def test_the_entry_is_one_for_nodes(deploy):
    """EKN-16, pain 12: user name and groups are EKS's own for this type."""
    cloud = deploy(entry)
    made = cloud.one("p5-cb-p5-access-entry")
    assert made.inputs == {
        "clusterName": "p5-cb",
        "principalArn": "arn:role",
        "type": "EC2_LINUX",
        "tags": {"team": "vision"},
    }
    assert made.parent in cloud.closed
