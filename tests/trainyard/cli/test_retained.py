"""PC-11: `destroy` of a cluster names the objects that ParallelCluster leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest

from trainyard.deployment.retained import (
    Kind,
    Retained,
    explanation,
    report_retained,
    unknown,
    what_failed_creations_left,
    what_stays,
)
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

LUSTRE = Retained("fs-1", Kind.LUSTRE, "fsx")
GROUP = Retained("sg-1", Kind.GROUP)
VOLUMES = Retained("vol-1", Kind.EBS, "apps"), Retained("vol-2", Kind.EBS, "more")


def test_the_explanation_names_each_object_with_what_uses_it_again() -> None:
    lines = explanation("kept:", [LUSTRE, GROUP, *VOLUMES], region="us-west-2").splitlines()
    assert lines[0] == "kept:"
    assert "  fs-1  FSx for Lustre, storage fsx" in lines
    assert "  vol-1  EBS volume, storage apps" in lines
    assert any(line.endswith("with kind: existing-fsx-lustre, existing-ebs") for line in lines)


def test_a_security_group_is_removed_after_the_file_system_that_uses_it() -> None:
    said = explanation("kept:", [GROUP, LUSTRE, *VOLUMES], region="us-west-2")
    commands = [line.strip() for line in said.splitlines() if line.strip().startswith("aws ")]
    assert commands == [
        "aws fsx delete-file-system --file-system-id fs-1 --region us-west-2",
        "aws ec2 delete-volume --volume-id vol-1 --region us-west-2",
        "aws ec2 delete-volume --volume-id vol-2 --region us-west-2",
        "aws ec2 delete-security-group --group-id sg-1 --region us-west-2",
    ]


def test_mount_targets_are_to_go_before_their_file_system() -> None:
    """AWS does not delete an EFS file system that has mount targets."""
    system = Retained("fs-2", Kind.EFS, "home")
    assert "mount targets" in explanation("kept:", [system], region="us-west-2")
    assert "mount targets" not in explanation("kept:", [LUSTRE], region="us-west-2")


def test_an_account_that_does_not_say_leaves_the_commands_that_find_it() -> None:
    said = unknown("AccessDenied", cluster_name="pc-gpu", region="us-west-2").splitlines()
    assert "  AccessDenied" in said
    finders = [line for line in said if line.startswith("  aws ")]
    assert [line.split()[1] for line in finders] == ["fsx", "efs", "ec2", "ec2"]
    assert all("parallelcluster:cluster-name" in line and "pc-gpu" in line for line in finders)
    assert all(line.endswith(" --region us-west-2") for line in finders)


def test_a_sandbox_that_has_ended_meanwhile_hides_no_failure_of_an_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    file = find_stack_file("pc-gpu")
    report_retained(target_of(file, sandbox=True), destroyed=False)
    assert capsys.readouterr().out == ""
    report_retained(target_of(file, sandbox=True), destroyed=True)
    assert "  the sandbox is not running; start it" in capsys.readouterr().out


def test_a_cluster_that_is_kept_itself_is_named_with_the_command_that_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Session:
        def __init__(self, **_: Any) -> None:
            """As in boto3."""

        def client(self, service: str, *, region_name: str, **_: Any) -> Session:
            assert (service, region_name) == ("cloudformation", "us-west-2")
            return self

        def can_paginate(self, operation: str) -> bool:
            return operation != "describe_stacks"

        def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - boto3's
            return {"Stacks": [{"StackName": StackName, "StackStatus": "CREATE_COMPLETE"}]}

    monkeypatch.setattr(boto3, "Session", Session)
    said = what_stays("pc-gpu", "us-west-2")
    assert "deletion_policy: retain" in said
    assert "pcluster delete-cluster --cluster-name pc-gpu --region us-west-2" in said
    # An `up` that changes it and fails leaves it unchanged.
    assert what_failed_creations_left("pc-gpu", "us-west-2") == ""
