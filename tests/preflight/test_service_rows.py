"""Roles, versions, placement groups and provider stacks that a stack depends on."""

from dataclasses import replace
from datetime import date

import pytest

from components.preflight.facts import FunctionFacts, VersionFacts
from components.preflight.service_rows import group_rows, provider_rows, role_rows, version_rows
from tests.support.kubernetes_versions import DEFAULT, minor
from tests.support.parallelcluster_accounts import configured
from tests.support.parallelcluster_configs import raw_p4de
from tests.support.stack_files import OTHER_RESERVATION

TODAY = date(2026, 11, 21)
NODE_GROUP_ROLE = "AWSServiceRoleForAmazonEKSNodegroup"
TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-provider"
ODCR = {"kind": "odcr", "reservation_id": OTHER_RESERVATION, "placement_group": "mine"}


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


@pytest.mark.parametrize(
    ("status", "ends", "verdict"),
    [
        ("STANDARD_SUPPORT", date(2027, 3, 27), "ok"),
        ("STANDARD_SUPPORT", date(2026, 12, 2), "warning"),
        ("EXTENDED_SUPPORT", date(2026, 7, 29), "warning"),
        ("UNSUPPORTED", date(2025, 7, 29), "refused"),
    ],
)
def test_the_support_of_a_version_is_told(configure, more, status, ends, verdict):
    """G11."""
    version = VersionFacts(status=status, standard_support_ends=ends)
    (row,) = version_rows(configure(), replace(more, kubernetes_versions={DEFAULT: version}), TODAY)
    assert row.verdict == verdict


def test_a_version_that_eks_does_not_list_is_refused_with_those_that_it_does(configure, more):
    listed = {minor(1): more.kubernetes_versions[DEFAULT]}
    (row,) = version_rows(configure(), replace(more, kubernetes_versions=listed), TODAY)
    assert row.problem.allowed == minor(1)


@pytest.mark.parametrize(
    ("groups", "verdict"),
    [({"mine": "available"}, "ok"), ({"mine": "deleting"}, "refused"), ({}, "refused")],
)
def test_a_placement_group_that_is_named_must_be_available(configure, more, groups, verdict):
    """B3."""
    config = configure(reservations__block=ODCR)
    (row,) = group_rows(config, replace(more, placement_groups=groups))
    assert (row.subject, row.verdict) == ("reservations.block.placement_group", verdict)


@pytest.mark.parametrize(
    ("functions", "verdict"),
    [
        ({TOKEN: FunctionFacts(state="Active")}, "ok"),
        ({TOKEN: FunctionFacts(state="Failed")}, "refused"),
        ({}, "refused"),
    ],
)
def test_the_provider_of_parallelcluster_must_answer(more, functions, verdict):
    raw = raw_p4de(architecture__deployment={"provider_service_token": TOKEN})
    (row,) = provider_rows(configured(raw), replace(more, provider_functions=functions))
    assert row.verdict == verdict
