"""Quotas for all resources of a stack, and the account's use of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainyard.components.account.facts import AccountFacts
from trainyard.components.catalog.quotas import QUOTAS, REGION
from trainyard.components.quotas.checks import Need, quota_check, quota_warnings

REGION_NAME = "us-west-2"
VPC = Need(quota="vpcs", key="network", amount=1)


def account(
    need: Need, *, quota: float | None, others: float | None, scope: str = REGION
) -> AccountFacts:
    values = {} if quota is None else {need.quota: quota}
    use = {} if others is None else {need.quota: {scope: others}}
    return replace(AccountFacts(account_id="", vpc=None), quota_values=values, quota_use=use)


def problems(need: Need, facts: AccountFacts):
    return quota_check([need], facts, REGION_NAME).problems


def test_a_stack_that_fills_the_quota_passes():
    assert not problems(VPC, account(VPC, quota=5, others=4))


def test_a_stack_beyond_the_quota_is_told_the_command_that_raises_it():
    (problem,) = problems(VPC, account(VPC, quota=5, others=5))
    assert problem.path == "trainyard:cluster.network"
    assert "VpcLimitExceeded" in problem.problem
    assert problem.found == "1 VPCs for this stack, 5 others exist"
    assert (
        "aws service-quotas request-service-quota-increase --service-code vpc --quota-code "
        "L-F678F1CE --desired-value 6 --region us-west-2"
    ) in problem.remedy


def test_a_quota_that_aws_does_not_raise_says_so():
    need = Need(quota="job-queues", key="architecture.compute_environments", amount=2)
    (problem,) = problems(need, account(need, quota=50, others=49))
    assert "AWS does not raise this quota" in problem.remedy
    assert "request-service-quota-increase" not in problem.remedy


def test_gateways_of_another_zone_do_not_count():
    need = Need(quota="nat-gateways", key="network.nat_gateways", amount=1, scope="us-west-2a")
    assert not problems(need, account(need, quota=5, others=5, scope="us-west-2b"))
    assert problems(need, account(need, quota=5, others=5, scope="us-west-2a"))


@pytest.mark.parametrize(("quota", "others"), [(None, 5), (5, None)])
def test_what_the_caller_may_not_read_refuses_nothing(quota, others):
    assert not problems(VPC, account(VPC, quota=quota, others=others))


def test_an_estimate_is_a_warning():
    need = Need(quota="iam-roles", key="architecture", amount=3)
    facts = account(need, quota=1000, others=998)
    assert not problems(need, facts)
    (text,) = quota_warnings([need], facts, REGION_NAME)
    assert "--desired-value 1001 --region us-east-1" in text
    assert not list(quota_warnings([need], account(need, quota=1000, others=997), REGION_NAME))


def test_a_part_of_a_tebibyte_counts_as_a_whole_one_in_the_command():
    need = Need(quota="gp3-storage", key="architecture", amount=0.5)
    (text,) = quota_warnings([need], account(need, quota=50, others=50), REGION_NAME)
    assert "--desired-value 51 " in text


def test_the_row_names_the_nearest_quota():
    group = Need(quota="security-groups", key="architecture", amount=1)
    facts = AccountFacts(
        account_id="",
        vpc=None,
        quota_values={"vpcs": 5, "security-groups": 2500},
        quota_use={"vpcs": {REGION: 1}, "security-groups": {REGION: 9}},
    )
    (subject,) = quota_check([VPC, group], facts, REGION_NAME).subjects
    assert subject.found == "2 quotas; the nearest: 1 VPCs for this stack, 1 others exist, of 5"
    assert "ec2:DescribeVpcs" in subject.calls


def test_internet_gateways_follow_the_quota_of_vpcs():
    need = Need(quota="internet-gateways", key="network", amount=1)
    facts = account(need, quota=5, others=5)
    assert problems(need, facts)
    raised = replace(facts, quota_values={"internet-gateways": 5, "vpcs": 20})
    assert not problems(need, raised)


def test_every_code_is_that_of_one_quota():
    codes = [each.code for each in QUOTAS.values() if each.code]
    assert len(set(codes)) == len(codes)
    assert all(len(code) == 10 and code.startswith("L-") for code in codes)
