"""`job --submit` and `run` for Slurm: run commands on the head node, through Systems Manager.

The head node needs no open port and no SSH key. A script is sent in Base64, so that no shell on the
way interprets it, and runs as the default user, who owns the jobs.

Source:
    https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html
    https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/connect-ssm-v3.html
"""

from __future__ import annotations

import base64
import gzip
import io
import re
import secrets
import shlex
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.slurm.directory import JobDirectory, default_user, head_node_filters
from trainyard.sandboxes.session import add_slurm
from trainyard.schedulers.job_wait import JobWait, going_on
from trainyard.schedulers.slurm.job_wait import wait_for
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target

JOBS_DIRECTORY = "trainyard-jobs"
"""Directory of the jobs, in the home directory that all nodes share."""
_RUN_LIMIT_SECONDS = 3600
"""Longest run of a script, `executionTimeout` of AWS-RunShellScript: `setup.sh` of a training job
downloads its data."""
_DELIVERY_SECONDS = 300
"""A command that has not started by then does not run (`TimeoutSeconds` of SendCommand)."""
_LARGEST_SCRIPT = 44_000
"""Characters of a script whose Base64 leaves 4 KiB of the 64 KiB of a command for its document.

https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html, `Content`:
64 KB, which include the content of parameters at runtime; SendCommand then fails with
`MaxDocumentSizeExceeded`"""
_SPARE = 1_000
"""Characters of a script around a part of an archive."""
_ARCHIVE = "files.tar.gz.base64"
_POLL_SECONDS, _SANDBOX_POLL_SECONDS = 2, 0.2
NODES_OF_THE_SANDBOX = (
    "the nodes of the sandbox are processes of this machine: programs run here as your user, "
    "without GPUs, Neuron devices, EFA and the storage of the stack; jobs that the fault schedule "
    "names run no program, and print its log"
)
_JOB_IDS = re.compile(r"^(?:Submitted batch job|job) (\d+)", re.MULTILINE)
"""Output of `sbatch` (https://slurm.schedmd.com/sbatch.html) and of the jobs' own `submit.sh`."""


@dataclass(frozen=True, slots=True)
class HeadNode:
    """Runs scripts on the head node of a cluster."""

    ssm: Any
    """A boto3 client."""
    instance_id: str
    user: str
    poll_seconds: float = _POLL_SECONDS
    """Time between two looks at a command."""

    def run(self, script: str) -> str:
        """Run a Bash script as the default user, and return its standard output.

        Systems Manager returns the first 24,000 characters.

        Raises:
            CommandError: the script failed, or did not run.
            ClientError, BotoCoreError: Systems Manager refused a request or did not respond.
        """
        encoded = base64.b64encode(script.encode()).decode()
        command = f"echo {encoded} | base64 -d | sudo -iu {self.user} bash"
        sent = self.ssm.send_command(
            InstanceIds=[self.instance_id],
            DocumentName="AWS-RunShellScript",
            TimeoutSeconds=_DELIVERY_SECONDS,
            Parameters={"commands": [command], "executionTimeout": [str(_RUN_LIMIT_SECONDS)]},
        )
        invocation = {"CommandId": sent["Command"]["CommandId"], "InstanceId": self.instance_id}
        attempts = int((_RUN_LIMIT_SECONDS + 2 * _DELIVERY_SECONDS) / self.poll_seconds)
        try:
            self.ssm.get_waiter("command_executed").wait(
                **invocation, WaiterConfig={"Delay": self.poll_seconds, "MaxAttempts": attempts}
            )
        except WaiterError as error:
            done = self.ssm.get_command_invocation(**invocation)
            said = (done["StandardErrorContent"] or done["StandardOutputContent"]).strip()
            raise failures.CommandError(
                f"a command on the head node {self.instance_id} ended with {done['Status']}: "
                f"{said or done['StatusDetails']}"
            ) from error
        return self.ssm.get_command_invocation(**invocation)["StandardOutputContent"]


def submit_directory(
    plan: ParallelClusterPlan, job: JobDirectory, name: str, *, target: Target, wait: JobWait | None
) -> None:
    """Copy a job to the head node, submit it, and print the id of its last Slurm job.

    Args:
        plan: Plan of the stack.
        job: The files and commands of the job.
        name: Name of the job, such as `nccl-tests`.
        target: The stack and its account.
        wait: How to wait for the end of the last Slurm job; None to return at once.

    Raises:
        WrongUseError: there are no credentials.
        StackLockedError: another command holds the lock of the stack.
        CommandError: there is no head node, it cannot be reached, Slurm refuses the job or, with
            `wait`, the job fails or does not start.
    """
    refuse_occupied(target)
    with reached_head_node(plan, target) as head_node:
        job_id = submit_on(head_node, job, name, target=target)
        if wait:
            with going_on(target, job_id):
                wait_for(head_node.run, job_id, wait)


def submit_on(head_node: HeadNode, job: JobDirectory, name: str, *, target: Target) -> str:
    """Copy a job to a head node and submit it; print and return the id of its last Slurm job.

    Raises:
        CommandError: the head node cannot be reached, or Slurm refuses the job.
    """
    directory = f"{JOBS_DIRECTORY}/{name}-{secrets.token_hex(4)}"
    console.progress(f"submitting {name} on the head node {head_node.instance_id}")
    # The sandbox has the home directory, but no storage of the stack.
    needs = {
        path: why
        for path, why in job.needs.items()
        if not (target.is_sandbox and path.startswith("/"))
    }
    *parts, last_part = scripts_of(job, directory, needs)
    for part in parts:
        head_node.run(part)
    said = head_node.run(last_part)
    identifiers = job_ids(said)
    if not identifiers:
        raise failures.CommandError(f"Slurm named no job: {said.strip()}")
    last = identifiers[-1]
    console.answer(last)
    commands = {"ssm": "", "logs": f" {last} --follow", "cancel": f" {last}"}
    if target.is_sandbox:
        del commands["ssm"]
        console.progress(NODES_OF_THE_SANDBOX)
    console.progress(
        f"submitted {name} as Slurm job {', '.join(identifiers)}, in ~/{directory} on the "
        "head node; commands for it:"
        + "".join(
            f"\n  {target.command(command)}{arguments}" for command, arguments in commands.items()
        )
    )
    return last


def job_ids(said: str) -> list[str]:
    """Return the ids of the Slurm jobs in the output of a submission, in their order."""
    return _JOB_IDS.findall(said)


@contextmanager
def reached_head_node(plan: ParallelClusterPlan, target: Target) -> Iterator[HeadNode]:
    """Give the head node of a deployed cluster, and explain errors of AWS.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: there is no head node, or it cannot be reached.
        EngineError: the cluster is in the sandbox, and Slurm cannot be had on this machine.
    """
    with (
        target.access(),
        explaining(target.stack_file),
    ):
        ec2, ssm = target.client("ec2"), target.client("ssm")
        instance_id = running_head_node(ec2, plan, target)
        if target.is_sandbox:
            add_slurm(console.progress)
        yield HeadNode(
            ssm,
            instance_id,
            default_user(plan.operating_system),
            _SANDBOX_POLL_SECONDS if target.is_sandbox else _POLL_SECONDS,
        )


@contextmanager
def explaining(stack_file: StackFile) -> Iterator[None]:
    """Explain errors of AWS.

    Raises:
        CommandError: AWS refused a request or did not respond.
    """
    try:
        yield
    except ClientError as error:
        raise failures.CommandError(_unreachable(error, stack_file)) from error
    except BotoCoreError as error:
        raise failures.CommandError(explained("ssm:SendCommand", error)) from error


def running_head_node(ec2: Any, plan: ParallelClusterPlan, target: Target) -> str:
    """Return the id of the head node of a cluster.

    Raises:
        CommandError: there is none that runs.
    """
    wanted = head_node_filters(plan.name)
    filters = [{"Name": name, "Values": [value]} for name, value in wanted.items()]
    found = ec2.describe_instances(Filters=filters)["Reservations"]
    running = [each["InstanceId"] for reserved in found for each in reserved["Instances"]]
    if not running:
        raise failures.CommandError(
            f"{plan.name} has no running head node; deploy the stack: {target.command('up')}"
        )
    return running[0]


def scripts_of(job: JobDirectory, directory: str, needs: Mapping[str, str]) -> list[str]:
    """Return the scripts that copy and submit a job, in their order.

    Args:
        job: The job.
        directory: Its new directory, below the home directory.
        needs: What must exist: the reason to refuse the job without it, by path.
    """
    checks = "".join(
        f"[ -e {shlex.quote(path)} ] || {{ echo {shlex.quote(why)} >&2; exit 1; }}\n"
        for path, why in needs.items()
    )
    whole = f"{checks}{submission(job, directory)}"
    if len(whole) <= _LARGEST_SCRIPT:
        return [whole]
    archive = base64.b64encode(_archive(job)).decode()
    size = _LARGEST_SCRIPT - len(checks) - _SPARE
    pieces = [archive[at : at + size] for at in range(0, len(archive), size)]
    made = "\n".join(_made(directory))
    append = f"(umask 077; cat >> {shlex.quote(f'{directory}/{_ARCHIVE}')})"
    sent = [f"set -euo pipefail\n{made}\nprintf %s {each} | {append}\n" for each in pieces]
    unpack = f"base64 -d < {_ARCHIVE} | tar -xzf -\nrm {_ARCHIVE}"
    return [f"{checks}{sent[0]}", *sent[1:], _submission(job, directory, unpack)]


def submission(job: JobDirectory, directory: str) -> str:
    """Return the script that writes the files of a job into a new directory, and submits it."""
    archive = base64.b64encode(_archive(job)).decode()
    return _submission(job, directory, f"echo {archive} | base64 -d | tar -xzf -")


def _submission(job: JobDirectory, directory: str, unpack: str) -> str:
    lines = ["set -euo pipefail", *_made(directory), f"cd {shlex.quote(directory)}"]
    return "\n".join([*lines, unpack, *job.submit, ""])


def _made(directory: str) -> list[str]:
    """Return the commands that make the directory of a job, for its user only."""
    # The program itself keeps the umask of its user.
    return [f"(umask 077; mkdir -p {shlex.quote(directory)})", f"chmod 700 {JOBS_DIRECTORY}"]


def _archive(job: JobDirectory) -> bytes:
    """Return the files as a compressed archive; equal files give equal archives."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, text in job.files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            member.mode = 0o700 if text.startswith("#!") else 0o600
            archive.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(content.getvalue(), mtime=0)


def _unreachable(error: ClientError, stack_file: StackFile) -> str:
    if error.response["Error"]["Code"] == "InvalidInstanceId":
        return (
            f"the head node of {stack_file.stack} is not connected to Systems Manager: it may "
            "still start, or its role lacks the policy AmazonSSMManagedInstanceCore "
            "(`architecture.head_node.iam_policies`)"
        )
    return explained(f"ssm:{error.operation_name}", error)
