"""A job of a ParallelCluster stack: a directory of scripts, and the commands to run them."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.components.package_data import data_text
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.tagging import PARALLELCLUSTER_NODE_TAG, PARALLELCLUSTER_TAG
from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.nodes import SlurmNodes
from trainyard.stack_files.files import write_whole

# The job scripts as templates: shell scripts with `@name@` placeholders.
#
# Placeholders use `@` because shell scripts contain many `$` and braces. The templates are in
# `scripts/` next to this module, one directory per job.


SCRIPTS = Path(__file__).parent / "scripts"
LIBRARY_PATH = """\
# libfabric and the NCCL plugin of the node; distributions differ in where libraries lie.
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib:/opt/amazon/ofi-nccl/lib64
LD_LIBRARY_PATH+=:/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu
LD_LIBRARY_PATH+=:/opt/amazon/efa/lib:/opt/amazon/efa/lib64"""
_VALUE = re.compile(r"@([a-z][a-z0-9_]*)@")


def render_script(name: str, values: Mapping[str, object]) -> str:
    """Return a script such as `nccl-tests/build.sbatch` with its values.

    Args:
        name: Path below `scripts/`.
        values: Values for placeholders; the template need not use all of them.

    Raises:
        KeyError: the template has a placeholder without a value.
    """
    template = data_text(SCRIPTS / name)
    return _VALUE.sub(lambda found: str(values[found[1]]), template)


def exports(values: Mapping[str, object]) -> str:
    """Return shell lines that set and export these variables, quoted for the shell."""
    return "\n".join(f"export {name}={shlex.quote(str(value))}" for name, value in values.items())


EXECUTABLE = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDirectory:
    """The files of a job, and the commands for them."""

    files: Mapping[str, str]
    """Content by path."""
    submit: tuple[str, ...]
    """Commands to run in the directory on the head node; the last one submits the job to Slurm."""
    results: tuple[str, ...]
    """Commands that show the results."""
    needs: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the job needs on the head node: the reason to refuse it without that, by path, absolute
    or relative to the home directory."""
    job_names: tuple[str, ...] = ()
    """Names of its Slurm jobs, which the fault schedule of a sandbox can name."""


def write_directory(job: JobDirectory, target: Path, *, force: bool) -> None:
    """Write the scripts of a job into a directory.

    Args:
        job: The job.
        target: The directory; created if it does not exist.
        force: Write into a directory that contains files; files with the same name are replaced,
            others are kept.

    Raises:
        JobError: the directory is not empty, or is a file.
    """
    if target.exists() and not target.is_dir():
        raise JobError(f"{target} is a file; name a directory with --output")
    if not force and target.is_dir() and any(target.iterdir()):
        raise JobError(
            f"{target} is not empty; name another directory with --output, or write into it with "
            "--force"
        )
    target.mkdir(parents=True, exist_ok=True)
    for name, content in job.files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        if content.startswith("#!"):
            path.chmod(EXECUTABLE)


# How to copy a job's directory to the head node, and the commands to run there.
#
# Source:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/ssh-v3.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/connect-ssm-v3.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/Image-section-v3.html: the default user


_USERS = {"ubuntu": "ubuntu", "rocky": "rocky"}
_DEFAULT_USER = "ec2-user"


def default_user(operating_system: str) -> str:
    """Return the default user of ParallelCluster's AMIs, who also runs the jobs."""
    found = (user for name, user in _USERS.items() if operating_system.startswith(name))
    return next(found, _DEFAULT_USER)


def head_node_filters(cluster_name: str) -> dict[str, str]:
    """Return the filters of `DescribeInstances` for the running head node of a cluster."""
    return {
        f"tag:{PARALLELCLUSTER_TAG}": cluster_name,
        f"tag:{PARALLELCLUSTER_NODE_TAG}": "HeadNode",
        "instance-state-name": "running",
    }


def next_steps(
    plan: ParallelClusterPlan, job: JobDirectory, nodes: SlurmNodes, directory: str
) -> str:
    """Return the next commands as text: copy, submit, watch, read.

    Args:
        plan: Plan of the stack.
        job: The written job.
        nodes: The nodes that the job runs on.
        directory: Path of the directory on this machine; its last part is also its name on the head
            node.
    """
    name = directory.rstrip("/").rpartition("/")[2]
    steps = [
        ("Copy it to the head node, into the home directory that all nodes share:", _copy),
        ("Log in:", _login),
    ]
    text = [f"{title}\n\n{_block(step(plan, directory))}" for title, step in steps]
    text.append(f"Submit it there:\n\n{_block((f'cd {shlex.quote(name)}', *job.submit))}")
    text.append(f"Watch it:\n\n{_block(_watch(nodes))}")
    text.append(f"Read the result:\n\n{_block(job.results)}")
    return "\n\n".join(text) + "\n"


def _block(lines: tuple[str, ...]) -> str:
    return textwrap.indent("\n".join(lines), "    ")


def _has_key(plan: ParallelClusterPlan) -> bool:
    return bool(plan.head_node.key_name or plan.head_node.public_key)


def _lookup(plan: ParallelClusterPlan, wanted: str) -> str:
    filters = " \\\n      ".join(
        f"Name={name},Values={value}" for name, value in head_node_filters(plan.name).items()
    )
    return (
        f"$(aws ec2 describe-instances --region {plan.region} --output text \\\n"
        f"      --filters {filters} \\\n"
        f"      --query 'Reservations[].Instances[].{wanted}')"
    )


def _copy(plan: ParallelClusterPlan, directory: str) -> tuple[str, ...]:
    user, path = default_user(plan.operating_system), shlex.quote(directory)
    if _has_key(plan) and plan.head_node.public:
        return (
            f"head={_lookup(plan, 'PublicIpAddress')}",
            f'scp -i KEY_FILE -r {path} {user}@"$head":',
        )
    head = f"head={_lookup(plan, 'InstanceId')}"
    if _has_key(plan):
        proxy = (
            f"aws ssm start-session --region {plan.region} --target %h "
            "--document-name AWS-StartSSHSession --parameters portNumber=%p"
        )
        return head, f'scp -i KEY_FILE -o ProxyCommand="{proxy}" -r {path} {user}@"$head":'
    # There is no SSH key; the scripts are small enough to be part of the command.
    parent, _, name = directory.rstrip("/").rpartition("/")
    archive = f"tar -C {shlex.quote(parent or '.')} -czf - {shlex.quote(name)}"
    unpack = f"echo $({archive} | base64 | tr -d '\\n') | base64 -d | sudo -iu {user} tar -xzf -"
    send = f'aws ssm send-command --region {plan.region} --instance-ids "$head"'
    commands = f'--document-name AWS-RunShellScript --parameters "commands=[\\"{unpack}\\"]"'
    return head, f"{send} {commands}"


def _login(plan: ParallelClusterPlan, directory: str) -> tuple[str, ...]:
    del directory
    user = default_user(plan.operating_system)
    if _has_key(plan) and plan.head_node.public:
        return (f'ssh -i KEY_FILE {user}@"$head"',)
    return (
        f'aws ssm start-session --region {plan.region} --target "$head"',
        f"sudo -iu {user}",
    )


def _watch(nodes: SlurmNodes) -> tuple[str, ...]:
    partition = nodes.queue.name
    return (
        f"squeue --partition {partition}",
        f"sinfo --partition {partition} --Node --format '%N %t %f'",
    )
