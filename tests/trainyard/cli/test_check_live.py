"""`check --live` as text and as data, against the sandbox's account."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.sandbox_aws import OTHER_ZONE, use_account  # before boto3 makes a client

from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from trainyard.stack_files.completion import completed, sandbox_completion

from trainyard.stack_files.stack_files import find_stack_file, stack_names  # isort: skip


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    """One account for all tests, which are read-only."""
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture
def check(
    trainyard, stack_file, server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable:
    """Check p5-cb with the ids of the account, or with another reservation."""
    aws = tmp_path / "bin" / "aws"
    aws.parent.mkdir()
    aws.write_text("#!/bin/sh\necho 'aws-cli/2.31.4 Python/3.13.7'\n", encoding="utf-8")
    aws.chmod(0o755)
    monkeypatch.setenv("PATH", f"{aws.parent}:{os.environ['PATH']}")
    use_account(monkeypatch, server.access)

    def _check(
        *flags: str,
        reservation_id: str | None = None,
        command: tuple[str, ...] = ("check", "p5-cb", "--live"),
    ):
        block = {"reservation_id": reservation_id} if reservation_id else {}
        filled = completed(find_stack_file("p5-cb"), {"reservations": {"block": block}})
        cluster = completed(filled, sandbox_completion(find_stack_file("p5-cb"))).cluster
        return trainyard(*command, "--stack-file", stack_file(cluster), *flags)

    return _check


def test_the_table_begins_with_who_asked_where(check) -> None:
    result = check()
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first.startswith("p5-cb: 123456789012 as arn:aws:")
    assert first.rstrip().endswith("us-west-2")


def test_the_last_word_counts_the_answers(check) -> None:
    (line,) = [line for line in check().stdout.splitlines() if line.startswith("p5-cb: ok")]
    assert line.endswith(" ok)")


def test_the_rows_are_data_with_json(check) -> None:
    (answer,) = json.loads(check("--json").stdout)
    assert (answer["ok"], answer["account"], answer["region"]) == (
        True,
        "123456789012",
        "us-west-2",
    )
    assert {row["verdict"] for row in answer["checks"]} == {"ok"}
    assert {"subject", "asked", "verdict", "found"} == set(answer["checks"][0])


def test_the_aws_cli_of_this_machine_is_a_row_of_an_eks_stack(check) -> None:
    (answer,) = json.loads(check("--json").stdout)
    (row,) = [row for row in answer["checks"] if "AWS CLI" in row["asked"]]
    assert (row["verdict"], row["found"]) == ("ok", "aws-cli/2.31.4")


def test_what_is_refused_stands_in_the_table_and_below_it(check) -> None:
    """C2."""
    result = check(reservation_id=OTHER_ZONE)
    assert result.exit_code == 2
    assert "refused" in result.stdout
    assert "nothing was changed" in result.stderr


def test_a_refused_row_has_the_fix_that_its_problem_has(check) -> None:
    (answer,) = json.loads(check("--json", reservation_id=OTHER_ZONE).stdout)
    fixes = {row["fix"] for row in answer["checks"] if row["verdict"] == "refused"}
    assert fixes
    assert fixes <= {problem["fix"] for problem in answer["problems"]}
    assert {problem["stage"] for problem in answer["problems"]} == {"preflight"}


def test_an_update_that_the_account_would_reject_is_refused_before_the_engine_starts(
    check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The backend has no such stack, which the engine would say first."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", tmp_path.as_uri())
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "")
    for command in (("up", "p5-cb", "--yes"), ("preview", "p5-cb")):
        result = check(reservation_id=OTHER_ZONE, command=command)
        assert result.exit_code == 2
        assert "us-west-2d" in result.stderr


def test_the_account_is_asked_about_a_file_that_the_plan_refuses(
    check, trainyard, stack_file
) -> None:
    found = completed(find_stack_file("p5-cb"), {"reservations": {"block": {}}})
    cluster = completed(found, sandbox_completion(find_stack_file("p5-cb"))).cluster
    cluster["architecture"]["node_groups"]["p5"]["placement"] = {"group": "create"}
    cluster["reservations"]["block"]["reservation_id"] = "cr-00000000000000bad"
    result = trainyard("check", "p5-cb", "--live", "--json", "--stack-file", stack_file(cluster))
    (answer,) = json.loads(result.stdout)
    ends = {each["path"].rpartition(".")[2] for each in answer["problems"]}
    assert ends == {"group", "reservation_id"}


def test_missing_ids_do_not_hide_what_the_account_refuses(check, trainyard, stack_file) -> None:
    found = completed(find_stack_file("p5-cb"), {"reservations": {"block": {}}})
    cluster = completed(found, sandbox_completion(find_stack_file("p5-cb"))).cluster
    del cluster["network"]["private_subnet_ids"]
    cluster["reservations"]["block"]["reservation_id"] = "cr-00000000000000bad"
    result = trainyard("check", "p5-cb", "--live", "--json", "--stack-file", stack_file(cluster))
    assert result.exit_code == 2
    (answer,) = json.loads(result.stdout)
    stages = {each["path"].rpartition(".")[2]: each["stage"] for each in answer["problems"]}
    assert stages == {"private_subnet_ids": "schema", "reservation_id": "preflight"}


@pytest.mark.parametrize("stack", stack_names())
def test_the_account_is_not_asked_about_what_is_assumed(
    check, trainyard, tmp_path: Path, stack: str
) -> None:
    """A file without ids has the same refusals with the account as without it."""
    arguments = ("check", stack, "--json", "--stack-file", str(find_stack_file(stack).path))
    (without,) = json.loads(trainyard(*arguments).stdout)
    (live,) = json.loads(trainyard(*arguments, "--live").stdout)
    missing = {each["path"] for each in without.get("problems", ())}
    assert {each["path"] for each in live.get("problems", ())} == missing
