"""The life of a network stack in the second account of the sandbox, with `aws:assumeRoles`.

The commands run once; every test asserts one claim about their results.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.support.sandbox import Done, Sandbox, copied_stack_file
from trainyard.sandbox.state import SandboxDirectory

pytestmark = pytest.mark.sandbox

STACK = "vpc-one-az"
FIRST, SECOND = "123456789012", "210987654321"
ROLE = f"arn:aws:iam::{SECOND}:role/deploys-training"
ABOUT_CALLERS = {"sts:AssumeRole", "sts:GetCallerIdentity"}
STEPS = ("check", "up", "status", "diagnose", "refresh", "destroy")


@dataclass(slots=True)
class Life:
    """The results, and the calls that each account has received, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    calls: dict[str, dict[str, Counter[str]]] = field(
        default_factory=dict[str, dict[str, Counter[str]]]
    )
    identity: str = ""


def counted(sandbox: Sandbox) -> dict[str, Counter[str]]:
    status = SandboxDirectory(sandbox.directory).read_status()
    assert status is not None
    answer = status.endpoint.ask("GET", "calls")
    return {account: Counter(calls) for account, calls in answer.items()}


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    directory = tmp_path_factory.mktemp("second")
    path = copied_stack_file(
        directory / "vpc.yaml", {"architecture.deletion_protection": False}, STACK
    )
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["config"] |= {
        "aws:assumeRoles": [{"roleArn": ROLE, "sessionName": "life"}],
        "aws:allowedAccountIds": [SECOND],
    }
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    life = Life()
    arguments: dict[str, tuple[str | Path, ...]] = {
        "check": ("--live",),
        "up": ("--yes",),
        "diagnose": ("--output", directory / "diagnosis"),
        "refresh": ("--yes",),
        "destroy": ("--yes",),
    }
    commands = sandbox.without_preview()
    for step in STEPS:
        before = counted(sandbox)
        given = (*arguments.get(step, ()), "--stack-file", path)
        life.done[step] = commands.run(step, STACK, "--sandbox", *given)
        after = counted(sandbox)
        life.calls[step] = {
            account: calls - before.get(account, Counter()) for account, calls in after.items()
        }
    reached = directory / "diagnosis" / "account.txt"
    life.identity = reached.read_text(encoding="utf-8") if reached.exists() else ""
    return life


@pytest.mark.parametrize("step", STEPS)
def test_a_command_succeeds(life: Life, step: str) -> None:
    done = life.done[step]
    assert done.exit_code == 0, done.said


@pytest.mark.parametrize("step", STEPS)
def test_a_command_makes_no_call_in_the_account_of_its_user(life: Life, step: str) -> None:
    assert life.calls[step].get(FIRST, Counter()).keys() <= ABOUT_CALLERS


def test_engine_checks_and_commands_work_in_the_account_of_the_role(life: Life) -> None:
    assert life.calls["check"][SECOND]["ec2:DescribeAvailabilityZones"]
    assert life.calls["up"][SECOND]["ec2:CreateVpc"] == 1
    assert life.calls["refresh"][SECOND]["ec2:DescribeVpcs"]
    assert life.calls["destroy"][SECOND]["ec2:DeleteVpc"] == 1


def test_the_diagnosis_names_the_role(life: Life) -> None:
    assert f"arn:aws:sts::{SECOND}:assumed-role/deploys-training/life" in life.identity


def test_the_check_names_the_account_of_the_role(life: Life) -> None:
    first = life.done["check"].stdout.splitlines()[0]
    assert first.startswith(f"{STACK}: {SECOND} as ")


def test_nothing_of_the_role_is_a_secret_in_outputs(life: Life) -> None:
    assert "ASIA" not in json.dumps([each.said for each in life.done.values()])
