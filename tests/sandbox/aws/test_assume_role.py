"""The roles of the second account: who assumes them, and whose calls are made with them."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import ACCOUNT, VPC, Account

SECOND = "210987654321"
SECOND_VPC = "vpc-0fedcba9876543210"
ROLE = f"arn:aws:iam::{SECOND}:role/deploys-training"
FOR_PARTNER = f"arn:aws:iam::{SECOND}:role/deploys-for-partner"


def client(account: Account, keys: Any, service: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=account.server.endpoint,
        region_name="us-west-2",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )


def assumed(sts: Any, role: str, **given: Any) -> Any:
    return sts.assume_role(RoleArn=role, RoleSessionName="session", **given)["Credentials"]


def test_a_session_of_a_role_is_in_its_account(account: Account) -> None:
    keys = assumed(account.client("sts"), ROLE)
    identity = client(account, keys, "sts").get_caller_identity()
    assert identity["Account"] == SECOND
    assert identity["Arn"] == f"arn:aws:sts::{SECOND}:assumed-role/deploys-training/session"


def test_the_accounts_have_nothing_in_common(account: Account) -> None:
    there = client(account, assumed(account.client("sts"), ROLE), "ec2")
    made = there.create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
    assert {VPC} == {VPC, SECOND_VPC, made} & _vpcs(account.ec2)
    assert {SECOND_VPC, made} == {VPC, SECOND_VPC, made} & _vpcs(there)
    (reservation,) = there.describe_capacity_reservations()["CapacityReservations"]
    assert reservation["OwnerId"] == SECOND


def _vpcs(ec2: Any) -> set[str]:
    return {each["VpcId"] for each in ec2.describe_vpcs()["Vpcs"]}


def test_a_caller_does_not_choose_its_account(account: Account) -> None:
    """moto takes the account of a request from a header, which clients could send."""

    def claim(request: Any, **_: Any) -> None:
        request.headers["x-moto-account-id"] = SECOND

    ec2 = boto3.client(
        "ec2",
        endpoint_url=account.server.endpoint,
        region_name="us-west-2",
        **account.server.access.credentials,
    )
    ec2.meta.events.register("before-send.ec2.DescribeVpcs", claim)
    assert VPC in _vpcs(ec2)


@pytest.mark.parametrize(
    ("role", "given"),
    [
        (f"arn:aws:iam::{SECOND}:role/none", {}),
        ("arn:aws:iam::111122223333:role/deploys-training", {}),
        (FOR_PARTNER, {}),
        (FOR_PARTNER, {"ExternalId": "another"}),
    ],
)
def test_a_role_that_the_caller_may_not_assume_is_refused(
    account: Account, role: str, given: dict[str, str]
) -> None:
    with pytest.raises(ClientError) as refused:
        assumed(account.client("sts"), role, **given)
    error = refused.value.response["Error"]
    assert error["Code"] == "AccessDenied"
    assert error["Message"].endswith(
        f"is not authorized to perform: sts:AssumeRole on resource: {role}"
    )
    assert error["Message"].startswith(f"User: arn:aws:iam::{ACCOUNT}:user/")


def test_a_role_of_a_service_is_refused_to_every_user(account: Account) -> None:
    """Its trust policy names `ec2.amazonaws.com`: no user of the account is trusted by it."""
    role = account.role("node")
    message = f"not authorized to perform: sts:AssumeRole on resource: {role}"
    with pytest.raises(ClientError, match=message):
        assumed(account.client("sts"), role)


def test_a_role_whose_account_denies_it_is_refused(account: Account) -> None:
    """A statement with another effect trusts nobody."""
    role = account.person_role("denied")
    statement = {
        "Effect": "Deny",
        "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
        "Action": "sts:AssumeRole",
    }
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    account.iam.update_assume_role_policy(RoleName="denied", PolicyDocument=trust)
    with pytest.raises(ClientError, match="AccessDenied"):
        assumed(account.client("sts"), role)


def test_the_external_id_is_that_of_the_trust_policy(account: Account) -> None:
    assert assumed(account.client("sts"), FOR_PARTNER, ExternalId="team-research")


def test_a_role_of_another_account_is_assumed_only_if_it_trusts_the_caller(
    account: Account,
) -> None:
    there = client(account, assumed(account.client("sts"), ROLE), "sts")
    assert assumed(there, ROLE)
    with pytest.raises(ClientError, match="AccessDenied"):
        assumed(there, FOR_PARTNER, ExternalId="team-research")


def test_a_chained_session_has_at_most_an_hour(account: Account) -> None:
    assert assumed(account.client("sts"), ROLE, DurationSeconds=7200)
    there = client(account, assumed(account.client("sts"), ROLE), "sts")
    assert assumed(there, ROLE, DurationSeconds=3600)
    with pytest.raises(ClientError, match="1 hour session limit for roles"):
        assumed(there, ROLE, DurationSeconds=3601)


def test_the_calls_of_each_account_are_counted(account: Account) -> None:
    def counted() -> Any:
        return account.server.access.ask("GET", "calls")

    before = counted()
    there = client(account, assumed(account.client("sts"), ROLE), "ec2")
    there.describe_subnets()
    after = counted()
    name = "ec2:DescribeSubnets"
    assert after[SECOND][name] == before.get(SECOND, {}).get(name, 0) + 1
    assert after[ACCOUNT].get(name) == before.get(ACCOUNT, {}).get(name)
