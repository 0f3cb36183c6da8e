"""Sessions reach the account as the engine does: its roles, accounts, endpoints and regions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore
import pytest

from tests.support.sandbox_aws import ACCOUNT, VPC, Account, use_account
from trainyard.components.account.answers import AccountUnreachableError
from trainyard.components.account.reader import AccountReader
from trainyard.components.account.session import (
    AccountSession,
    RoleNotAssumedError,
    WrongAccountError,
)
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import ProviderSettings, provider_settings

REGION = "us-west-2"
SECOND = "210987654321"
SECOND_VPC = "vpc-0fedcba9876543210"
ROLE = f"arn:aws:iam::{SECOND}:role/deploys-training"
FOR_PARTNER = f"arn:aws:iam::{SECOND}:role/deploys-for-partner"
ABOUT_CALLERS = {"sts:AssumeRole", "sts:GetCallerIdentity"}

Calls = Callable[[], dict[str, Counter[str]]]


def settings(**config: Any) -> ProviderSettings:
    given = {"aws:region": REGION, **{f"aws:{key}": value for key, value in config.items()}}
    return provider_settings(given, stack_file="Pulumi.a.yaml")


def session(**config: Any) -> AccountSession:
    return AccountSession(settings(**config))


def vpcs(reached: AccountSession) -> set[str]:
    return {each["VpcId"] for each in reached.client("ec2").describe_vpcs()["Vpcs"]}


@pytest.fixture
def calls(account: Account, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls that each account has received in this test; the first one is the caller's."""
    use_account(monkeypatch, account.server.access)
    counted = account.server.application.admission.calls
    before = {name: Counter(each) for name, each in counted.items()}

    def since() -> dict[str, Counter[str]]:
        found = {name: each - before.get(name, Counter()) for name, each in counted.items()}
        return {name: each for name, each in found.items() if each}

    return since


@pytest.fixture
def assumed(calls: Calls) -> Iterator[list[Mapping[str, Any]]]:
    """The arguments of the calls of AssumeRole."""
    del calls
    given: list[Mapping[str, Any]] = []

    def hear(params: Mapping[str, Any], **_: Any) -> None:
        given.append(dict(params))

    def listen(made: Any) -> None:
        made.get_component("event_emitter").register("before-parameter-build.sts.AssumeRole", hear)

    botocore.register_initializer(listen)
    yield given
    botocore.unregister_initializer(listen)


def test_without_settings_the_account_is_that_of_the_environment(calls: Calls) -> None:
    assert VPC in vpcs(AccountSession(region=REGION))
    assert calls().keys() == {ACCOUNT}


def test_a_role_reads_its_own_account_and_nothing_of_that_of_its_caller(calls: Calls) -> None:
    assert SECOND_VPC in vpcs(session(assumeRoles=[{"roleArn": ROLE}]))
    assert calls().get(ACCOUNT, Counter()).keys() <= ABOUT_CALLERS
    assert calls()[SECOND] == {"ec2:DescribeVpcs": 1}


def test_a_reader_is_in_the_account_of_the_role(calls: Calls) -> None:
    reader = AccountReader(region=REGION, settings=settings(assumeRoles=[{"roleArn": ROLE}]))
    assert reader.account_id() == SECOND
    assert VPC not in {each["VpcId"] for each in reader.ec2.describe_vpcs()["Vpcs"]}
    assert calls().get(ACCOUNT, Counter()).keys() <= ABOUT_CALLERS


def test_sts_gets_what_the_stack_file_says_of_a_role(assumed: list[Mapping[str, Any]]) -> None:
    """The arguments of `assumeRoleCredentialsProvider` in aws-sdk-go-base."""
    role = {
        "roleArn": FOR_PARTNER,
        "sessionName": "ci",
        "externalId": "team-research",
        "duration": "30m",
        "policy": '{"Version": "2012-10-17", "Statement": []}',
        "policyArns": ["arn:aws:iam::aws:policy/ReadOnlyAccess"],
        "sourceIdentity": "me",
        "tags": {"team": "vision"},
        "transitiveTagKeys": ["team"],
    }
    session(assumeRoles=[role]).prove()
    assert assumed == [
        {
            "RoleArn": FOR_PARTNER,
            "RoleSessionName": "ci",
            "ExternalId": "team-research",
            "DurationSeconds": 1800,
            "Policy": '{"Version": "2012-10-17", "Statement": []}',
            "PolicyArns": [{"arn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}],
            "SourceIdentity": "me",
            "Tags": [{"Key": "team", "Value": "vision"}],
            "TransitiveTagKeys": ["team"],
        }
    ]


def test_roles_are_assumed_one_after_the_other(
    calls: Calls, assumed: list[Mapping[str, Any]]
) -> None:
    chain = [{"roleArn": FOR_PARTNER, "externalId": "team-research"}, {"roleArn": ROLE}]
    identity = session(assumeRoles=chain).client("sts").get_caller_identity()
    assert ":assumed-role/deploys-training/" in identity["Arn"]
    assert [each["RoleArn"] for each in assumed] == [FOR_PARTNER, ROLE]
    # The second call is signed with the session of the first, in the account of its role.
    assert calls()[ACCOUNT]["sts:AssumeRole"] == calls()[SECOND]["sts:AssumeRole"] == 1


def test_commands_assume_a_role_once(calls: Calls) -> None:
    for _ in range(3):
        vpcs(session(assumeRoles=[{"roleArn": ROLE, "sessionName": "once"}]))
    assert calls()[ACCOUNT]["sts:AssumeRole"] == 1


@pytest.mark.parametrize(
    ("role", "says"),
    [
        ({"roleArn": f"arn:aws:iam::{SECOND}:role/none"}, "set `externalId`"),
        ({"roleArn": FOR_PARTNER}, "set `externalId`"),
        ({"roleArn": FOR_PARTNER, "externalId": "another"}, "trust policy"),
    ],
)
def test_a_role_that_is_refused_is_named_with_its_caller_and_the_fix(
    calls: Calls, role: dict[str, str], says: str
) -> None:
    with pytest.raises(RoleNotAssumedError) as refused:
        session(assumeRoles=[role]).client("ec2")
    text = str(refused.value)
    assert "aws:assumeRoles[0] in Pulumi.a.yaml" in text
    assert role["roleArn"] in text
    assert f"allow arn:aws:sts::{ACCOUNT}:user/" in text
    assert says in text
    assert set().union(*calls().values()) <= ABOUT_CALLERS


@pytest.mark.parametrize(
    ("accounts", "is_allowed"),
    [
        ({"allowedAccountIds": [ACCOUNT]}, True),
        ({"allowedAccountIds": ["111122223333", ACCOUNT]}, True),
        ({"allowedAccountIds": ["111122223333"]}, False),
        ({"forbiddenAccountIds": ["111122223333"]}, True),
        ({"forbiddenAccountIds": [ACCOUNT]}, False),
    ],
)
def test_the_account_is_compared_before_anything_else(
    calls: Calls, accounts: dict[str, list[str]], is_allowed: bool
) -> None:
    if is_allowed:
        assert VPC in vpcs(session(**accounts))
        return
    with pytest.raises(WrongAccountError, match=f"of account {ACCOUNT}") as refused:
        session(**accounts).client("ec2")
    assert "Pulumi.a.yaml" in str(refused.value)
    assert calls() == {ACCOUNT: {"sts:GetCallerIdentity": 1}}


def test_the_account_of_the_role_is_compared(calls: Calls) -> None:
    allowed = session(assumeRoles=[{"roleArn": ROLE}], allowedAccountIds=[SECOND])
    assert SECOND_VPC in vpcs(allowed)
    assert calls()[SECOND]["sts:GetCallerIdentity"] == 1


def test_settings_that_cannot_be_honoured_reach_no_account(calls: Calls) -> None:
    with pytest.raises(ConfigError, match="aws:accessKey"):
        session(accessKey="AKIA")
    assert not calls()


def test_a_profile_that_does_not_exist_is_one_sentence(calls: Calls) -> None:
    del calls
    with pytest.raises(AccountUnreachableError, match=r"config profile \(nobody\) .*aws:profile"):
        session(profile="nobody").client("ec2")


def url(reached: AccountSession, service: str, region: str = "") -> str:
    return reached.client(service, region=region).meta.endpoint_url


@pytest.fixture
def on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients have the addresses of AWS; none of them is called."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "not-real")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-real")


@pytest.mark.usefixtures("on_aws")
def test_an_endpoint_is_that_of_its_service_in_the_region_of_the_stack() -> None:
    reached = session(
        endpoints=[{"ec2": "https://vpce-1.example", "cloudwatchlogs": "https://l.x"}]
    )
    assert url(reached, "ec2") == "https://vpce-1.example"
    assert url(reached, "logs") == "https://l.x"
    assert url(reached, "eks") == "https://eks.us-west-2.amazonaws.com"
    assert url(reached, "ec2", "eu-north-1") == "https://ec2.eu-north-1.amazonaws.com"


@pytest.mark.usefixtures("on_aws")
def test_fips_and_dual_stack_are_those_of_the_engine() -> None:
    """https://docs.aws.amazon.com/general/latest/gr/ec2-service.html and rande.html"""
    assert url(session(useFipsEndpoint=True), "ec2") == "https://ec2-fips.us-west-2.amazonaws.com"
    assert url(session(useDualstackEndpoint=True), "ec2") == "https://ec2.us-west-2.api.aws"
    both = session(useFipsEndpoint=True, endpoints=[{"ec2": "https://vpce-1.example"}])
    assert url(both, "ec2") == "https://vpce-1.example"


@pytest.mark.usefixtures("on_aws")
def test_sts_has_its_own_region() -> None:
    reached = session(stsRegion="eu-north-1")
    assert url(reached, "sts") == "https://sts.eu-north-1.amazonaws.com"
    assert url(reached, "ec2") == "https://ec2.us-west-2.amazonaws.com"


@pytest.mark.usefixtures("on_aws")
def test_buckets_are_in_the_path_where_the_stack_file_says_so() -> None:
    styles = [
        session(**given).client("s3").meta.config.s3 for given in ({}, {"s3UsePathStyle": True})
    ]
    assert styles == [None, {"addressing_style": "path"}]


def test_the_aws_cli_gets_the_session_of_the_role(calls: Calls) -> None:
    del calls
    reached = session(
        assumeRoles=[{"roleArn": ROLE}],
        endpoints=[{"autoscaling": "https://a.x"}],
        useFipsEndpoint=True,
    )
    given = reached.environment({"PATH": "/bin", "AWS_PROFILE": "mine"})
    assert given["PATH"] == "/bin"
    assert "AWS_PROFILE" not in given
    assert given["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert given["AWS_SESSION_TOKEN"]
    assert given["AWS_USE_FIPS_ENDPOINT"] == "true"
    # https://docs.aws.amazon.com/sdkref/latest/guide/ss-endpoints-table.html
    assert given["AWS_ENDPOINT_URL_AUTO_SCALING"] == "https://a.x"


def test_without_roles_the_aws_cli_keeps_what_it_has() -> None:
    assert AccountSession().environment({"AWS_PROFILE": "mine"}) == {"AWS_PROFILE": "mine"}
