"""Access entries for the roles of self-managed nodes."""

import pytest

from tests.support import provider_answers
from trainyard.components.eks.node_group_plan import entry_fault, is_node_role_of, role_logical_name
from trainyard.components.eks.node_groups import NodeAccessEntry, NodeAccessEntryArgs
from trainyard.components.identity.node_role import NodeRole, NodeRoleArgs

ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"


def entry():
    args = NodeAccessEntryArgs(cluster_name="p5-cb", role_arn="arn:role", tags={"team": "vision"})
    NodeAccessEntry("p5-cb-p5-access", args)


def test_the_entry_is_one_for_nodes(deploy):
    """EKN-16, pain 12: EKS sets user name and groups for this type."""
    cloud = deploy(entry)
    made = cloud.one("p5-cb-p5-access-entry")
    assert made.inputs == {
        "clusterName": "p5-cb",
        "principalArn": "arn:role",
        "type": "EC2_LINUX",
        "tags": {"team": "vision"},
    }
    assert made.parent in cloud.closed


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"type": "STANDARD", "kubernetesGroups": ["system:nodes"]}, "is of type STANDARD"),
        ({"type": "EC2_LINUX", "kubernetesGroups": []}, "puts its callers in no group"),
    ],
)
def test_the_program_fails_where_the_entry_lets_no_node_in(deploy, monkeypatch, described, words):
    """The engine deletes nothing before the end of the program: the line in aws-auth remains."""
    answers = provider_answers.outputs

    def outputs(type_, name, inputs):
        return described if type_ == ACCESS_ENTRY else answers(type_, name, inputs)

    monkeypatch.setattr(provider_answers, "outputs", outputs)
    with pytest.raises(Exception, match=f"the access entry of arn:role {words}"):
        deploy(entry)


@pytest.mark.parametrize(
    ("kind", "groups", "fits"),
    [
        ("EC2_LINUX", ["system:nodes"], True),
        ("EC2_LINUX", ["system:bootstrappers", "system:nodes"], True),
        ("EC2_LINUX", [], False),
        ("STANDARD", ["system:nodes"], False),
        ("FARGATE_LINUX", ["system:nodes"], False),
    ],
)
def test_an_entry_lets_nodes_in_by_type_and_group(kind, groups, fits):
    assert (entry_fault(kind, groups) is None) == fits


@pytest.mark.parametrize(
    ("arn", "ours"),
    [
        ("arn:aws:iam::123456789012:role/p5-cb-p5-role-0a1b2c3", True),
        ("arn:aws-us-gov:iam::123456789012:role/a/b/p5-cb-p5-role-0a1b2c3", True),
        ("arn:aws:iam::123456789012:role/p5-cb-p5-role", False),
        ("arn:aws:iam::123456789012:role/p5-cb-p5-extra-role-0a1b2c3", False),
        ("arn:aws:iam::123456789012:role/other-p5-cb-p5-role-0a1b2c3", False),
        ("arn:aws:iam::123456789012:user/p5-cb-p5-role-0a1b2c3", False),
    ],
)
def test_a_node_role_is_known_by_its_name(arn, ours):
    assert is_node_role_of(arn, "p5-cb", "p5") == ours


def test_the_name_is_the_one_that_the_role_is_made_with(deploy):
    args = NodeRoleArgs(cluster_name="p5-cb", region="us-west-2", extra_policies=(), tags={})
    cloud = deploy(lambda: NodeRole("p5-cb-p5", args))
    (role,) = cloud.of_type("aws:iam/role:Role")
    assert role.name == role_logical_name("p5-cb", "p5")
