"""`accept`: what it refuses, and in which order its steps run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from components.eks.verification_plan import UNVERIFIED
from tests.tools.cli.conftest import COMPLETE
from tools.acceptance.steps import Done, Record, Result, Step, read_record
from tools.cli import accept, failures
from tools.workspace.stack_files import find_stack_file


def test_a_stack_with_protected_objects_is_refused(trainyard, tmp_path: Path) -> None:
    output = tmp_path / "accept"
    result = trainyard("accept", "vpc-one-az", "--sandbox", "--output", output)
    assert result.exit_code == failures.WRONG_USE
    assert "set architecture.deletion_protection to false" in result.stderr
    assert not output.exists()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """An account in which nothing is deployed, and steps that end as the test wants."""
    made = SimpleNamespace(resources=[], results={}, ran=[], objects=[["vpc-1"], ["vpc-1"]])

    def run(step: Step, record: Record, seconds: float | None) -> Done:
        made.ran.append((step.name, seconds is None))
        result: Result = made.results.get(step.name, "pass")
        return Done(
            name=step.name, result=result, seconds=1.0, reason="" if result == "pass" else "x"
        )

    workspace = SimpleNamespace(exists=lambda: True, command=None)
    monkeypatch.setattr(accept, "opened_to_read", lambda *_, **__: workspace)
    monkeypatch.setattr(accept, "exported_state", lambda *_: {})
    monkeypatch.setattr(accept, "resources_of", lambda _: made.resources)
    monkeypatch.setattr(accept, "_inventory", lambda *_, **__: made.objects.pop(0))
    monkeypatch.setattr(accept, "_run", run)
    return made


@pytest.fixture
def accepted(trainyard, tmp_path: Path) -> Callable[..., Any]:
    return lambda *more: trainyard("accept", "dev", "--output", tmp_path / "a", *more)


def names(account: SimpleNamespace) -> list[str]:
    return [name for name, _ in account.ran]


def test_a_deployed_stack_is_refused(account: SimpleNamespace, accepted) -> None:
    account.resources.append("vpc")
    result = accepted("--yes")
    assert result.exit_code == failures.WRONG_USE
    assert "dev is deployed, and an acceptance ends with its deletion" in result.stderr
    assert not account.ran


def test_nothing_is_deployed_without_consent(account: SimpleNamespace, accepted) -> None:
    result = accepted()
    assert result.exit_code != 0
    assert not account.ran


def test_every_step_runs_in_order(account: SimpleNamespace, accepted, tmp_path: Path) -> None:
    result = accepted("--yes")
    assert result.exit_code == 0, result.stderr
    assert "dev: accepted after" in result.stdout
    assert names(account) == [
        *("check", "up", "up again", "refresh", "test", "change", "diagnose", "destroy"),
    ]
    # The deletion has no time limit.
    assert [name for name, unlimited in account.ran if unlimited] == ["diagnose", "destroy"]
    assert (tmp_path / "a" / "report.html").is_file()
    assert "Acceptance: changed" in (tmp_path / "a" / "tagged.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "result", "ran"),
    [
        ("check", "fail", ["check"]),
        ("up", "fail", ["check", "up", "diagnose", "destroy"]),
        ("up", "stopped", ["check", "up", "diagnose", "destroy"]),
        ("test", "stopped", ["check", "up", "up again", "refresh", "test", "diagnose", "destroy"]),
    ],
)
def test_what_was_made_is_deleted_after_a_failure_or_the_limit(
    account: SimpleNamespace, accepted, name: str, result: str, ran: list[str]
) -> None:
    account.results[name] = result
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert f"{result}: {name}: x" in done.stdout
    assert names(account) == ran


@pytest.mark.parametrize("required", [True, False])
def test_the_test_of_the_sandbox_runs_on_nodes_that_must_pass_verify(
    trainyard, stack_file, required: bool
) -> None:
    """No step before it opens them: the sandbox has no log that `verify` could judge."""
    path = stack_file({**COMPLETE, "verification": {"required": required}})
    found = find_stack_file("p5-cb", path=path)
    command = accept._test(found, sandbox=True)
    assert command == ("job", "p5-cb", "nccl-tests", "--submit", "--wait")
    printed = trainyard(*command[:-2], "--stack-file", path)
    *_, job = yaml.safe_load_all(printed.stdout)
    tolerated = {each["key"] for each in job["spec"]["template"]["spec"]["tolerations"]}
    assert tolerated == ({UNVERIFIED.key} if required else set())
    assert accept._test(found, sandbox=False) == ("verify", "p5-cb")


def test_what_is_left_behind_fails_the_acceptance(account: SimpleNamespace, accepted) -> None:
    account.objects = [["vpc-1"], ["vpc-1", "eni-2"]]
    done = accepted("--yes")
    assert done.exit_code == failures.WORK_FAILED
    assert "left behind: eni-2" in done.stdout


def test_an_interrupted_acceptance_goes_on(
    account: SimpleNamespace, accepted, tmp_path: Path
) -> None:
    accepted("--yes")
    record = read_record(tmp_path / "a")
    assert record is not None
    record.done = record.done[:3]
    record.save()
    account.ran.clear()
    account.objects = [["vpc-1"]]
    assert accepted().exit_code == 0
    assert names(account) == ["refresh", "test", "change", "diagnose", "destroy"]


def test_the_account_is_asked_for_the_objects_of_the_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    @contextmanager
    def access(**_: object) -> Iterator[None]:
        yield

    def paginate(**wanted: Any) -> list[dict[str, Any]]:
        asked.append(wanted)
        return [{"ResourceTagMappingList": [{"ResourceARN": "b"}, {"ResourceARN": "a"}]}]

    client = SimpleNamespace(get_paginator=lambda _: SimpleNamespace(paginate=paginate))
    monkeypatch.setattr("boto3.client", lambda *_, **__: client)
    monkeypatch.setattr(accept, "account_access", access)
    stack_file: Any = SimpleNamespace(stack="dev", region="us-west-2", profile="")
    assert accept._inventory(stack_file, sandbox=False) == ["a", "b"]
    assert asked == [{"TagFilters": [{"Key": "trainyard:cluster", "Values": ["dev"]}]}]
