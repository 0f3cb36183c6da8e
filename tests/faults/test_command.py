"""`./trainyard sandbox faults`, against an account in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.faults.account import Faulty
from trainyard.cli.app import app
from trainyard.sandbox.process_identity import own_identity
from trainyard.sandbox.state import SandboxDirectory, SandboxStatus

SCHEDULE = "- {call: 'ec2:CreateVpc', happens: throttled, nth: 2}\n"


@pytest.fixture
def run(faulty: Faulty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a command of a sandbox with the account of the test."""
    directory, identity = SandboxDirectory(tmp_path), own_identity()
    directory.write_status(
        SandboxStatus(
            pid=identity.pid,
            process_start_time=identity.start_time,
            aws_endpoint=faulty.account.server.endpoint,
            access_key=faulty.account.server.access.access_key,
            account_id="123456789012",
            region="us-west-2",
        )
    )
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    return lambda *arguments: CliRunner().invoke(app, ["sandbox", *arguments])


def test_a_schedule_is_put_in_force_shown_counted_and_ended(
    faulty: Faulty, tmp_path: Path, run
) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(SCHEDULE, encoding="utf-8")
    assert run("faults", str(file)).exit_code == 0
    faulty.account.ec2.describe_vpcs()
    shown = json.loads(run("faults", "--json").stdout)
    assert [(each["happens"], each["matched"], each["happened"]) for each in shown] == [
        ("throttled", 0, 0)
    ]
    line = "ec2:CreateVpc throttled (nth 2, times 1): occurred 0x in 0 calls"
    assert line in run("faults").stdout
    assert line in run("status").stdout
    assert "no fault schedule is active" in run("faults", "--clear").stdout
    assert faulty.happened() == []


def test_entries_are_added_before_those_in_force_which_keep_their_counts(
    faulty: Faulty, tmp_path: Path, run
) -> None:
    faulty.use("call: 'ec2:DescribeVpcs', happens: throttled, nth: 9")
    faulty.account.ec2.describe_vpcs()
    file = tmp_path / "faults.yaml"
    file.write_text(SCHEDULE, encoding="utf-8")
    assert run("faults", str(file), "--add").exit_code == 0
    shown = json.loads(run("faults", "--json").stdout)
    assert [(each["call"], each["matched"]) for each in shown] == [
        ("ec2:CreateVpc", 0),
        ("ec2:DescribeVpcs", 1),
    ]
    assert run("faults", "--add").exit_code == 2


def test_a_wrong_schedule_leaves_the_one_in_force(faulty: Faulty, tmp_path: Path, run) -> None:
    faulty.use("call: 'ec2:CreateVpc', happens: throttled")
    file = tmp_path / "faults.yaml"
    file.write_text("- {call: 'ec2:CreateVpc', happens: throtled}", encoding="utf-8")
    done = run("faults", str(file))
    assert done.exit_code == 2
    assert "nearest: throttled" in done.output
    assert faulty.happened() == [0]


def test_a_file_and_clear_are_not_taken_together(tmp_path: Path, run) -> None:
    file = tmp_path / "faults.yaml"
    file.touch()
    done = run("faults", str(file), "--clear")
    assert done.exit_code == 2
    assert "not both" in done.output
