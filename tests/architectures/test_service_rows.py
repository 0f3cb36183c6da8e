"""Service-linked roles that a stack depends on."""

from dataclasses import replace

from trainyard.components.architectures.preflight import role_rows

NODE_GROUP_ROLE = "AWSServiceRoleForAmazonEKSNodegroup"


def test_a_role_that_does_not_exist_yet_is_made_by_aws(configure, more):
    rows = {row.found.partition(":")[0]: row for row in role_rows(configure(), more)}
    assert rows[NODE_GROUP_ROLE].verdict == "ok"
    assert "iam:CreateServiceLinkedRole" in rows[NODE_GROUP_ROLE].found


def test_a_role_that_exists_is_named(configure, more):
    exists = replace(more, role_names={NODE_GROUP_ROLE: True})
    assert NODE_GROUP_ROLE in [row.found for row in role_rows(configure(), exists)]


def test_spot_nodes_need_a_role_of_their_own(configure, more):
    config = configure(architecture__node_groups__p5__purchase_option="spot")
    assert any("spot.amazonaws.com" in row.found for row in role_rows(config, more))


def test_roles_that_may_not_be_read_are_skipped(configure, more):
    denied = replace(more, unreadable=("iam:GetRole: AccessDenied",))
    assert {row.verdict for row in role_rows(configure(), denied)} == {"skipped"}
