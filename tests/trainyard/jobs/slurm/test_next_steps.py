"""Commands for the user after a job's directory was written."""

import base64
import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest

from tests.support.parallelcluster import head_node, p4de_plan, plan
from tests.support.slurm_jobs import private_plan
from trainyard.jobs.slurm.directory import default_user, next_steps, write_directory
from trainyard.jobs.slurm.nccl_tests import render_nccl_directory
from trainyard.jobs.slurm.nodes import SlurmRequest


def steps(of, directory="jobs/nccl"):
    job, nodes = render_nccl_directory(of, SlurmRequest())
    return next_steps(of, job, nodes, directory)


@pytest.mark.parametrize(
    ("operating_system", "user"),
    [
        ("alinux2023", "ec2-user"),
        ("ubuntu2204", "ubuntu"),
        ("ubuntu2404", "ubuntu"),
        ("rhel9", "ec2-user"),
        ("rocky9", "rocky"),
    ],
)
def test_the_user_is_the_one_of_the_operating_system(operating_system, user):
    assert default_user(operating_system) == user
    assert f'{user}@"$head"' in steps(plan(operating_system=operating_system))


def test_a_public_head_node_is_reached_over_ssh():
    said = steps(p4de_plan())
    assert "Values=pc-p4de" in said
    assert "PublicIpAddress" in said
    assert 'scp -i KEY_FILE -r jobs/nccl ec2-user@"$head":' in said
    assert "aws ssm" not in said


def test_a_private_head_node_with_a_key_is_reached_over_ssh_through_session_manager():
    said = steps(plan(head_node=head_node(public=False)))
    assert "InstanceId" in said
    assert "AWS-StartSSHSession" in said


def test_commands_name_partition_and_directory():
    said = steps(p4de_plan())
    assert "    cd nccl\n" in said
    assert "sinfo --partition compute-gpu" in said
    assert "squeue --partition compute-gpu" in said


def test_without_a_key_the_scripts_travel_in_the_command(tmp_path):
    """The command line is run with an `aws` that prints its arguments; nothing else is replaced."""
    of = private_plan()
    job, nodes = render_nccl_directory(of, SlurmRequest())
    directory = tmp_path / "nccl tests"
    write_directory(job, directory, force=False)
    lines = next_steps(of, job, nodes, str(directory))
    (command,) = [line.strip() for line in lines.splitlines() if "send-command" in line]
    aws = tmp_path / "bin" / "aws"
    aws.parent.mkdir()
    aws.write_text('#!/bin/bash\nprintf "%s\\0" "$@"\n')
    aws.chmod(0o755)
    bash = shutil.which("bash")
    assert bash is not None
    path = f"{aws.parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        [bash, "-c", f"head=i-1; {command}"],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    parameters = ran.stdout.split("\0")[-2]
    (sent,) = json.loads(parameters.removeprefix("commands="))
    echo, decode, unpack = sent.split(" | ")
    assert (decode, unpack) == ("base64 -d", "sudo -iu ubuntu tar -xzf -")
    packed = base64.b64decode(echo.removeprefix("echo "))
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert {f"nccl tests/{name}" for name in job.files} < set(archive.getnames())
    # https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html
    assert len(sent) < 64 * 1024
