"""Commands of a stack with a role read in the account of the role, and nothing in that of its user.

The emulated accounts count their calls. What a command finds does not matter here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox_aws import ACCOUNT, use_account  # before boto3 makes a client

from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from tests.support.stack_files import with_values
from trainyard.acceptance.remains import remains
from trainyard.components.config.provider_settings import ProviderSettings, provider_settings
from trainyard.deployment.retained import what_failed_creations_left, what_stays
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.recovery.account import LookupAccount

SECOND = "210987654321"
ROLE = f"arn:aws:iam::{SECOND}:role/deploys-training"
ABOUT_CALLERS = {"sts:AssumeRole", "sts:GetCallerIdentity"}
NETWORK = {
    "network.vpc_id": "vpc-0fedcba9876543210",
    "network.public_subnet_ids": ["subnet-0b0000000000000f1"],
    "network.private_subnet_ids": ["subnet-0b0000000000000f2"],
}
EKS = NETWORK | {"reservations.training.reservation_id": "cr-00d000000000000f1"}
BLOCK = NETWORK | {"reservations.block.reservation_id": "cr-00d000000000000f1"}


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture
def calls(server: AwsServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """How often each account has received which calls in this test."""
    use_account(monkeypatch, server.access)
    counted = server.application.admission.calls
    before = {name: Counter(each) for name, each in counted.items()}
    return lambda: {name: each - before.get(name, Counter()) for name, each in counted.items()}


@pytest.mark.parametrize(
    ("stack", "values", "command"),
    [
        ("vpc-one-az", {}, ("check", "vpc-one-az", "--live")),
        ("batch-dev", {}, ("check", "batch-dev", "--live")),
        ("pc-dev", {}, ("check", "pc-dev", "--live")),
        ("eks-p5-odcr", EKS, ("check", "eks-p5-odcr", "--live")),
        ("p5-cb", BLOCK, ("check", "p5-cb", "--live")),
        ("p5-cb", BLOCK, ("cost", "p5-cb")),
        ("p5-cb", BLOCK, ("timeline", "p5-cb")),
    ],
)
def test_a_command_reads_in_the_account_of_the_role(
    trainyard: Callable[..., Any],
    calls: Callable[[], dict[str, Any]],
    stack_file: Callable[..., Path],
    stack: str,
    values: dict[str, Any],
    command: tuple[str, ...],
) -> None:
    roles = {"aws:assumeRoles": [{"roleArn": ROLE}], "aws:allowedAccountIds": [SECOND]}
    path = stack_file(with_values(find_stack_file(stack).cluster, values), **roles)
    result = trainyard(*command, "--stack-file", path)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    found = calls()
    assert found.get(ACCOUNT, {}).keys() <= ABOUT_CALLERS
    assert found[SECOND].keys() - ABOUT_CALLERS


@pytest.mark.parametrize(
    "command", [("check", "vpc-one-az", "--live"), ("cost", "p5-cb"), ("timeline", "p5-cb")]
)
def test_a_command_reads_nothing_in_an_account_that_is_not_allowed(
    trainyard: Callable[..., Any],
    calls: Callable[[], dict[str, Any]],
    stack_file: Callable[..., Path],
    command: tuple[str, ...],
) -> None:
    values = BLOCK if command[1] == "p5-cb" else {}
    cluster = with_values(find_stack_file(command[1]).cluster, values)
    path = stack_file(cluster, **{"aws:allowedAccountIds": [SECOND]})
    result = trainyard(*command, "--stack-file", path)
    assert f"of account {ACCOUNT}" in result.output or command[0] == "cost"
    assert {name: {*each} for name, each in calls().items() if each} == {
        ACCOUNT: {"sts:GetCallerIdentity"}
    }


def test_commands_without_an_account_need_no_credentials_for_it(
    trainyard: Callable[..., Any], stack_file: Callable[..., Path]
) -> None:
    cluster = find_stack_file("vpc-one-az").cluster
    path = stack_file(cluster, **{"aws:allowedAccountIds": [SECOND]})
    assert trainyard("check", "vpc-one-az", "--stack-file", path).exit_code == 0


def test_what_cannot_be_honoured_is_refused_with_all_other_problems(
    trainyard: Callable[..., Any], stack_file: Callable[..., Path]
) -> None:
    given = {"aws:accessKey": "AKIA", "aws:regoin": "us-west-2", "kubernetes:context": "mine"}
    path = stack_file({"name": "x y"}, **given)
    for flags in ((), ("--live",)):
        result = trainyard("check", "p5-cb", *flags, "--stack-file", path)
        assert result.exit_code == 2
        for key in (*given, "trainyard:cluster.name"):
            assert key in result.output


LOOKUPS: dict[str, Callable[[ProviderSettings], object]] = {
    "recovery": lambda found: LookupAccount("us-west-2", found).all("ec2", "describe_vpcs", "Vpcs"),
    "destroy": lambda found: what_stays("c", "us-west-2", found),
    "up": lambda found: what_failed_creations_left("c", "us-west-2", found),
    "accept": lambda found: remains("us-west-2", "c", (), found),
}


@pytest.mark.parametrize("look", LOOKUPS)
def test_what_follows_an_update_looks_in_the_account_of_the_role(
    calls: Callable[[], dict[str, Any]], look: str
) -> None:
    given = {"aws:region": "us-west-2", "aws:assumeRoles": [{"roleArn": ROLE}]}
    LOOKUPS[look](provider_settings(given, stack_file="Pulumi.a.yaml"))
    found = calls()
    assert found.get(ACCOUNT, {}).keys() <= ABOUT_CALLERS
    assert found[SECOND]
