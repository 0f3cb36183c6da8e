"""Quotas: those of the account, and the defaults of every account."""

import pytest

from tests.support.sandbox_aws import Account, refused

P, INF, STANDARD = "L-417A185B", "L-1945791B", "L-1216C47A"


def quota(account: Account, code: str, *, default: bool = False) -> float:
    client = account.client("service-quotas")
    ask = client.get_aws_default_service_quota if default else client.get_service_quota
    return ask(ServiceCode="ec2", QuotaCode=code)["Quota"]["Value"]


def test_a_quota_that_the_account_was_given_is_told(account: Account) -> None:
    assert quota(account, P) > 0


def test_a_quota_that_was_never_raised_has_no_value_of_its_own(account: Account) -> None:
    with refused("NoSuchResourceException"):
        quota(account, INF)


@pytest.mark.parametrize(("code", "vcpus"), [(INF, 0), (P, 0), (STANDARD, 5)])
def test_every_account_has_the_value_of_aws(account: Account, code: str, vcpus: int) -> None:
    assert quota(account, code, default=True) == vcpus


def test_the_applied_quotas_of_a_service_are_listed(account: Account) -> None:
    listed = account.client("service-quotas").list_service_quotas(ServiceCode="eks")["Quotas"]
    assert [(each["QuotaCode"], each["Value"]) for each in listed] == [("L-1194D53C", 50.0)]


def test_a_quota_of_a_vpc_has_the_value_of_aws(account: Account) -> None:
    client = account.client("service-quotas")
    found = client.get_aws_default_service_quota(ServiceCode="vpc", QuotaCode="L-F678F1CE")
    assert found["Quota"]["Value"] == 5


def test_a_default_can_differ_by_region(account: Account) -> None:
    """https://docs.aws.amazon.com/general/latest/gr/fsxn.html"""
    for region, gib in {"us-west-2": 262_144, "eu-west-1": 65_536}.items():
        client = account.client("service-quotas", region)
        found = client.get_aws_default_service_quota(ServiceCode="fsx", QuotaCode="L-88479C21")
        assert found["Quota"]["Value"] == gib


def test_a_quota_of_another_service_is_not_made_up(account: Account) -> None:
    with refused("SandboxNotImplemented"):
        account.client("service-quotas").get_service_quota(ServiceCode="s3", QuotaCode=P)
