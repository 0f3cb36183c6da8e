"""IAM policies that a stack file names, at their paths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import judged, refused
from tests.support.eks import p5, refusals
from trainyard.components.architectures.preflight import account_rows
from trainyard.components.named.facts import PolicyFacts

POLICIES = "architecture.node_groups.p5.iam_policies"


@pytest.fixture
def with_policy(facts):
    def _with(found, name="AmazonS3ReadOnlyAccess"):
        named = {("iam-policy", name): found}
        return judged(p5(iam_policies=[name]), replace(facts, named=named))

    return _with


def test_a_policy_at_its_path_is_accepted(with_policy):
    found = PolicyFacts(name="AmazonS3ReadOnlyAccess", attachable=True)
    assert refused(with_policy(found), "IAM policies") == {}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "no managed policy of this name"),
        (PolicyFacts(name="service-role/X", attachable=True), "service-role/X"),
        (PolicyFacts(name="AmazonS3ReadOnlyAccess", attachable=False), "does not attach"),
    ],
)
def test_a_policy_that_no_role_can_have_is_refused(with_policy, found, said):
    problem = refused(with_policy(found), "IAM policies")[f"{POLICIES}[0]"]
    assert said in problem.problem


def test_a_customer_policy_that_the_account_lacks_is_no_policy_of_aws(with_policy):
    arn = "arn:aws:iam::123456789012:policy/team/ReadData"
    problem = refused(with_policy(None, arn), "IAM policies")[f"{POLICIES}[0]"]
    assert "no customer managed policy of this ARN" in problem.problem
    assert "--scope Local" in str(problem.remedy)


def test_objects_that_were_not_read_are_not_judged(facts):
    raw = p5(iam_policies=["AmazonS3ReadOnlyAccess"])
    assert refused(judged(raw, facts), "IAM policies") == {}


def test_a_denied_call_is_a_skipped_row(facts):
    reason = "iam:GetPolicy: AccessDenied"
    denied = replace(facts, unreadable=(reason,))
    found = judged(p5(iam_policies=["AmazonS3ReadOnlyAccess"]), denied)
    (row,) = [row for row in account_rows(denied, found.checks) if row.subject == POLICIES]
    assert (row.verdict, row.found) == ("skipped", reason)


def test_policies_of_one_role_are_one_row(facts):
    names = ["A", "B"]
    policies = {("iam-policy", name): PolicyFacts(name=name, attachable=True) for name in names}
    known = replace(facts, named=policies)
    found = judged(p5(iam_policies=names), known)
    (row,) = [row for row in account_rows(known, found.checks) if row.subject == POLICIES]
    assert (row.verdict, row.found) == ("ok", "A, B")


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("aws-service-role/AmazonEKSServiceRolePolicy", False),
        ("service-role/AmazonEBSCSIDriverPolicy", True),
    ],
)
def test_a_policy_of_a_service_linked_role_is_refused(name, accepted):
    at = f"{POLICIES}[0]"
    assert (at not in refusals(p5(iam_policies=[name]))) == accepted
