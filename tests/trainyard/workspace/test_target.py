"""A stack in its account: what a command prints for it, and where it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.cli import options
from trainyard.components.config.provider_settings import PROFILE_KEY
from trainyard.stack_files.stack_files import StackFile, find_stack_file
from trainyard.workspace.accounts import AwsAccount, SandboxAccount, target_of
from trainyard.workspace.target import Target

P5 = find_stack_file("p5-cb")


def files(target: Target) -> list[Path]:
    """Return where commands write for a target."""
    records = target.account.capacity_directory(target.stack_file.own_files)
    return [target.lock_file, target.kubeconfig_path, records]


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the sandbox."""
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    return tmp_path


def test_a_stack_in_the_sandbox_shares_no_file_with_the_same_stack_on_aws(sandbox: Path) -> None:
    emulated, real = files(target_of(P5, sandbox=True)), files(target_of(P5, sandbox=False))
    assert all(each.is_relative_to(sandbox) for each in emulated)
    assert all(each.is_relative_to(P5.own_files) for each in real)


def test_a_command_has_the_options_of_its_target_at_its_end() -> None:
    target = target_of(P5, sandbox=True)
    assert target.command("status") == "./trainyard status p5-cb --sandbox"
    printed = target.command("job", "nccl-tests", "--submit")
    assert printed == "./trainyard job p5-cb nccl-tests --submit --sandbox"
    copy = Target(replace(P5, path=Path("/my work/p5.yaml")), AwsAccount())
    assert copy.command("up") == "./trainyard up p5-cb --stack-file '/my work/p5.yaml'"


def with_profile(stack_file: StackFile, profile: str) -> StackFile:
    config = {**stack_file.config, PROFILE_KEY: profile}
    return replace(stack_file, content={**stack_file.content, "config": config})


def test_the_profile_of_a_stack_file_is_that_of_its_account_on_aws() -> None:
    file = with_profile(P5, "team")
    assert target_of(file, sandbox=False).account.settings.profile == "team"
    assert target_of(file, sandbox=True).account.settings.profile == ""


def test_the_sandbox_fills_in_what_only_its_account_knows() -> None:
    given = options.target("p5-cb", path=None, sandbox=False)
    assert given.stack_file == P5
    completed = options.target("p5-cb", path=None, sandbox=True)
    assert completed.account == SandboxAccount(completed.stack_file.settings)
    assert completed.stack_file == SandboxAccount().completed(P5)
    assert completed.stack_file.cluster != P5.cluster


def test_a_client_asks_the_region_of_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    client = target_of(P5, sandbox=False).client("ec2")
    assert client.meta.region_name == P5.region
