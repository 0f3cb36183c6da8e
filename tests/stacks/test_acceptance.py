"""`accept` in the sandbox: a whole acceptance, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]
STACK = "pc-dev"
BEGIN, END = ("check", "up", "up again", "refresh"), ("change", "diagnose", "destroy", "remains")
STEPS = {
    "dev": ("test", "repair", "run", "resume", "status"),
    STACK: ("test", "repair", "install", "run", "resume", "status"),
    "batch-dev": ("test", "run", "resume", "status"),
}


@pytest.mark.parametrize("stack", [pytest.param(each, id=f"@{each}@") for each in STEPS])
def test_a_stack_is_accepted_and_leaves_nothing(sandbox: Sandbox, stack: str) -> None:
    directory = sandbox.directory / f"accept-{stack}"
    accept = ("accept", stack, "--sandbox", "--output", directory)
    done = sandbox.must(*accept)
    assert f"{stack}: accepted after" in done.stdout
    report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    assert report["passed"] is True
    assert [each["name"] for each in report["steps"]] == [*BEGIN, *STEPS[stack], *END]
    assert {each["verdict"] for each in report["assumptions"]} == {"not seen"}
    checked = sandbox.must("accept", "--check-report", directory / "report.json", "--sandbox")
    assert f"a report of {stack} on the sandbox" in checked.stdout
    shapes = json.loads((directory / "shapes.json").read_text(encoding="utf-8"))
    assert {each["evidence"] for each in shapes["tables"]} == {"emulator"}
    assert shapes["unread"] == 0
    changed = (directory / "change.log").read_text(encoding="utf-8")
    assert not [line for line in changed.splitlines() if line.startswith(("created", "replaced"))]
    if stack == STACK:
        said = (directory / "test.log").read_text(encoding="utf-8")
        assert {"node 0 of 2", "node 1 of 2"} <= {*said.splitlines()}
    assert "on the sandbox: emulated AWS" in (directory / "report.html").read_text("utf-8")
    assert not [line for line in sandbox.inventory() if stack in line]
    again = sandbox.must(*accept)
    assert "the stack comes up" not in again.stderr
    if stack == STACK:
        leaked(sandbox, again=accept)
    other = sandbox.run("accept", "vpc-test", "--sandbox", "--output", directory)
    assert other.exit_code == 2
    assert "is the acceptance of another stack" in other.stderr


def leaked(sandbox: Sandbox, *, again: tuple[str | Path, ...]) -> None:
    """What the deletion could have left is named, with the command that deletes it."""
    volume = sandbox.aws("ec2").create_volume(
        AvailabilityZone="us-west-2a",
        Size=1,
        TagSpecifications=[
            {
                "ResourceType": "volume",
                "Tags": [{"Key": "parallelcluster:cluster-name", "Value": STACK}],
            }
        ],
    )["VolumeId"]
    group = f"/aws/containerinsights/{STACK}/performance"
    sandbox.aws("logs").create_log_group(logGroupName=group)
    done = sandbox.run(*again)
    assert done.exit_code == 1
    assert "fail: remains: 2 objects are left behind" in done.stdout
    assert f"delete it: aws ec2 delete-volume --volume-id {volume}" in done.stdout
    assert f"delete it: aws logs delete-log-group --log-group-name {group}" in done.stdout
    sandbox.aws("ec2").delete_volume(VolumeId=volume)
    sandbox.aws("logs").delete_log_group(logGroupName=group)
    assert f"{STACK}: accepted after" in sandbox.must(*again).stdout
