"""`job --submit` for Slurm: commands on the head node, through the models of EC2 and SSM.

The script of a submission runs in a real Bash, with an `sbatch` of the test.
"""

from __future__ import annotations

import base64
import os
import platform
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from tests.support.sandbox_aws import NVIDIA_IMAGE
from tests.support.sandbox_here import running_sandbox
from tests.support.stacks import prepared
from trainyard.cli import failures
from trainyard.jobs.slurm.directory import JobDirectory
from trainyard.sandbox.engine import EngineError
from trainyard.schedulers.slurm import submission as slurm_submission
from trainyard.schedulers.slurm.submission import (
    HeadNode,
    explaining,
    reached_head_node,
    running_head_node,
    submit_on,
)
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

HEAD, COMMAND = "i-0123456789abcdef0", "0" * 36
DIRECTORY = JobDirectory(
    files={"all-reduce.sbatch": "#!/bin/bash\necho 'it''s'\n", "settings.sh": "A=1\n"},
    submit=("build=$(sbatch --parsable build.sbatch)", 'sbatch --dependency="$build" all.sbatch'),
    results=(),
)
SBATCH = """\
#!/bin/sh
echo "$PWD $*" >> "$HOME/submitted"
case $1 in --parsable) echo 11 ;; *) echo "Submitted batch job 12" ;; esac
"""


class Answers:
    """EC2 and SSM of boto3 with the answers of a test, validated by their models."""

    def __init__(self) -> None:
        session = boto3.Session("key", "secret", region_name="us-west-2")
        self.clients: dict[str, Any] = {"ec2": session.client("ec2"), "ssm": session.client("ssm")}
        self.stubs = {name: Stubber(client) for name, client in self.clients.items()}
        for stub in self.stubs.values():
            stub.activate()

    def head_node(self, *instances: str) -> None:
        reserved = {"Instances": [{"InstanceId": each} for each in instances]}
        self.stubs["ec2"].add_response("describe_instances", {"Reservations": [reserved]})

    def command(self, status: str = "Success", output: str = "", error: str = "") -> None:
        """Expect one command and two reads of it: the waiter's and the one for its output."""
        ssm = self.stubs["ssm"]
        sent = {
            "InstanceIds": [HEAD],
            "DocumentName": "AWS-RunShellScript",
            "TimeoutSeconds": 300,
            "Parameters": {"commands": ANY, "executionTimeout": ["3600"]},
        }
        ssm.add_response("send_command", {"Command": {"CommandId": COMMAND}}, sent)
        done = {
            "Status": status,
            "StatusDetails": status,
            "StandardOutputContent": output,
            "StandardErrorContent": error,
        }
        for _ in range(2):
            ssm.add_response("get_command_invocation", done)


@pytest.fixture
def answers() -> Answers:
    return Answers()


def submit(answers: Answers, *, sandbox: bool = False) -> str:
    """Submit the job on the head node that EC2 names."""
    plan: Any = prepared("pc-gpu").plan
    file = find_stack_file("pc-gpu")
    with explaining(file):
        found = running_head_node(answers.clients["ec2"], plan, target_of(file, sandbox=sandbox))
        head_node = HeadNode(answers.clients["ssm"], found, "ubuntu")
        return submit_on(
            head_node, DIRECTORY, "nccl-tests", target=target_of(file, sandbox=sandbox)
        )


def test_the_files_arrive_as_they_are_and_the_commands_run_in_their_directory(
    tmp_path: Path,
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "sbatch"
    program.write_text(SBATCH)
    program.chmod(0o755)
    script = slurm_submission.submission(DIRECTORY, "trainyard-jobs/nccl tests")
    done = subprocess.run(
        ["bash"],
        input=script,
        cwd=tmp_path,
        env={"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Submitted batch job 12\n"
    directory = tmp_path / "trainyard-jobs" / "nccl tests"
    found = {path.name: path.read_text() for path in directory.iterdir()}
    assert found == DIRECTORY.files
    modes = {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir()}
    assert modes == {"all-reduce.sbatch": 0o700, "settings.sh": 0o600}
    assert [each.stat().st_mode & 0o777 for each in (directory, directory.parent)] == [0o700] * 2
    assert (tmp_path / "submitted").read_text().splitlines() == [
        f"{directory} --parsable build.sbatch",
        f"{directory} --dependency=11 all.sbatch",
    ]


def on_head_node(home: Path, scripts: list[str]) -> subprocess.CompletedProcess[str]:
    """Run scripts one after the other, as the head node does, up to the first that fails."""
    (home / "bin").mkdir(exist_ok=True)
    program = home / "bin" / "sbatch"
    program.write_text(SBATCH)
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    *first, last = scripts

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash"],
            input=script,
            cwd=home,
            env={"PATH": path, "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )

    for script in first:
        done = run(script)
        if done.returncode:
            return done
    return run(last)


def test_a_large_job_arrives_in_commands_that_systems_manager_takes(tmp_path: Path) -> None:
    """The limit is that of a document, 64 KB:

    https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html
    """
    noise = base64.b64encode(random.Random(1).randbytes(786_000)).decode()
    files = {**DIRECTORY.files, "llm/train.py": f"# {noise}\n"}
    job = replace(DIRECTORY, files=files, needs={"needed": "why"})
    (tmp_path / "needed").touch()
    scripts = slurm_submission.scripts_of(job, "trainyard-jobs/llm 1", job.needs)
    assert len(scripts) > 10
    assert all(len(base64.b64encode(each.encode())) < 60 * 1024 for each in scripts)
    done = on_head_node(tmp_path, scripts)
    assert done.stdout == "Submitted batch job 12\n", done.stderr
    directory = tmp_path / "trainyard-jobs" / "llm 1"
    found = {
        path.relative_to(directory).as_posix(): path.read_text()
        for path in directory.rglob("*")
        if path.is_file()
    }
    assert found == files


def test_a_job_is_refused_on_the_head_node_without_what_it_needs(tmp_path: Path) -> None:
    job = replace(DIRECTORY, needs={"src/it's.py": "there is no src/it's.py"})
    scripts = slurm_submission.scripts_of(job, "trainyard-jobs/x", job.needs)
    refused = on_head_node(tmp_path, scripts)
    assert (refused.returncode, refused.stderr) == (1, "there is no src/it's.py\n")
    assert not (tmp_path / "trainyard-jobs").exists()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "it's.py").touch()
    assert on_head_node(tmp_path, scripts).returncode == 0


def test_a_script_reaches_the_default_user_whatever_it_contains(answers: Answers) -> None:
    answers.command(output="out")
    sent: list[str] = []
    ssm = answers.clients["ssm"]
    ssm.meta.events.register(
        "provide-client-params.ssm.SendCommand",
        lambda params, **_: sent.extend(params["Parameters"]["commands"]),
    )
    script = 'echo "it\'s" $HOME `date`\n'
    assert HeadNode(ssm, HEAD, "ubuntu").run(script) == "out"
    (command,) = sent
    echoed, decoded, ran = command.split(" | ")
    assert base64.b64decode(echoed.removeprefix("echo ")).decode() == script
    assert (decoded, ran) == ("base64 -d", "sudo -iu ubuntu bash")


def test_the_id_of_the_last_job_is_the_answer(answers: Answers, capsys) -> None:
    answers.head_node(HEAD)
    answers.command(output="job 11: compile.sbatch 1\njob 12: train.sbatch 1\n")
    assert submit(answers) == "12"
    printed = capsys.readouterr()
    assert printed.out == "12\n"
    assert "Slurm job 11, 12, in ~/trainyard-jobs/nccl-tests-" in printed.err
    assert "./trainyard ssm pc-gpu" in printed.err


def test_in_the_sandbox_it_says_where_programs_run(answers: Answers, capsys) -> None:
    answers.head_node(HEAD)
    answers.command(output="Submitted batch job 12\n")
    submit(answers, sandbox=True)
    printed = capsys.readouterr()
    assert printed.out == "12\n"
    assert "programs run here as your user, without GPUs" in printed.err
    assert "./trainyard logs pc-gpu --sandbox 12 --follow" in printed.err
    assert "./trainyard cancel pc-gpu --sandbox 12" in printed.err
    assert "trainyard ssm" not in printed.err


@pytest.fixture
def on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine for which there are no packages of Slurm."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")


def reach_in_sandbox() -> None:
    plan: Any = prepared("pc-gpu").plan
    with reached_head_node(plan, target_of(find_stack_file("pc-gpu"), sandbox=True)):
        pass


@pytest.mark.usefixtures("on_macos")
def test_a_stack_that_is_not_up_needs_no_slurm(tmp_path: Path) -> None:
    wanted = pytest.raises(failures.CommandError, match=r"\./trainyard up pc-gpu --sandbox")
    with running_sandbox(tmp_path / "sandbox"), wanted:
        reach_in_sandbox()


@pytest.mark.usefixtures("on_macos")
def test_a_machine_that_cannot_have_slurm_says_so(tmp_path: Path) -> None:
    wanted = pytest.raises(EngineError, match="needs Linux on x86-64 with `apt-get`")
    with running_sandbox(tmp_path / "sandbox") as account, wanted:
        tags = head_node_tags(prepared("pc-gpu").plan.name)
        account.ec2.run_instances(
            ImageId=NVIDIA_IMAGE,
            InstanceType="m5.large",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )
        reach_in_sandbox()


def head_node_tags(cluster: str) -> list[dict[str, str]]:
    """Return the tags that ParallelCluster gives the head node.

    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py
    """
    tags = {"parallelcluster:cluster-name": cluster, "parallelcluster:node-type": "HeadNode"}
    return [{"Key": name, "Value": value} for name, value in tags.items()]


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        pytest.param(lambda to: to.head_node(), "no running head node", id="none"),
        pytest.param(
            lambda to: (
                to.head_node(HEAD),
                to.stubs["ssm"].add_client_error("send_command", "InvalidInstanceId"),
            ),
            "AmazonSSMManagedInstanceCore",
            id="offline",
        ),
        pytest.param(
            lambda to: (
                to.head_node(HEAD),
                to.command("Failed", error="sbatch: error: invalid partition specified: gpu"),
            ),
            "ended with Failed: sbatch: error: invalid partition",
            id="refused",
        ),
        pytest.param(
            lambda to: (to.head_node(HEAD), to.command(output="?")), "Slurm named no job", id="?"
        ),
    ],
)
def test_what_does_not_work_says_why(answers: Answers, expect, says: str) -> None:
    expect(answers)
    with pytest.raises(failures.CommandError, match=says):
        submit(answers)
