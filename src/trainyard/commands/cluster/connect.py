"""`ssh` and `ssm`: open a shell on a node of a stack."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

import typer

from trainyard.cli import console, failures, options
from trainyard.components.account.quota_use import CLUSTER_TAGS, is_own
from trainyard.components.parallelcluster.ssh_review import KEY as SSH_KEY
from trainyard.components.tagging import tag_map
from trainyard.engine.environment import profile_environment
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.stack_files.stack_files import PARALLELCLUSTER, StackFile
from trainyard.workspace.session import account_access

_INSTALL = {
    "aws": "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    "session-manager-plugin": (
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html"
    ),
    "ssh": "https://www.openssh.com/portable.html",
}


def ssh(
    context: typer.Context,
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Open a shell on the head node of a Slurm cluster.

    Uses SSH if the head node has a key, a public address and an open SSH port, otherwise Session
    Manager. Prints the command, and exits with its exit code.
    """
    found = _deployable(stack, stack_file, sandbox=sandbox)
    if found.architecture != PARALLELCLUSTER:
        raise failures.WrongUseError(
            f"{stack} has no head node; for a shell on a node: "
            f"{found.command('ssm', sandbox=False)}"
        )
    outputs = deployed_stack(context, found, sandbox=False).outputs(show_secrets=False)
    if outputs.get("ssh_command") is None:
        console.progress(
            "SSH is closed; Session Manager opens the shell. For SSH, the head node needs a key "
            f"pair, a public subnet and your network in {SSH_KEY}.allowed_cidr"
        )
    _become(shlex.split(str(outputs.get("ssh_command") or outputs["ssm_command"])), found)


def ssm(
    context: typer.Context,
    stack: options.Stack,
    node: Annotated[
        str, typer.Argument(help="Instance id, private DNS name or private address of the node.")
    ] = "",
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Open a shell on a node with Session Manager; list the nodes if none is named.

    In a Slurm cluster, the default is the head node. Prints the command, and exits with its exit
    code.
    """
    found = _deployable(stack, stack_file, sandbox=sandbox)
    if found.architecture == PARALLELCLUSTER and not node:
        outputs = deployed_stack(context, found, sandbox=False).outputs(show_secrets=False)
        _become(shlex.split(str(outputs["ssm_command"])), found)
    target = selected(_running(found), node, stack=stack)
    arguments = ["ssm", "start-session", "--target", target, "--region", found.region]
    _become(["aws", *arguments], found)


@dataclass(frozen=True, slots=True)
class Instance:
    """A running instance of a stack."""

    identifier: str
    type: str
    dns_name: str
    address: str

    @property
    def line(self) -> str:
        """Id, private DNS name and instance type."""
        return f"{self.identifier}  {self.dns_name or self.address}  {self.type}"


def instances_of(reservations: Iterable[Mapping[str, Any]], cluster: str) -> list[Instance]:
    """Return the instances with the tags of a cluster, from an answer of `DescribeInstances`."""
    return [
        Instance(
            each["InstanceId"],
            each["InstanceType"],
            each.get("PrivateDnsName") or "",
            each.get("PrivateIpAddress") or "",
        )
        for reservation in reservations
        for each in reservation["Instances"]
        if is_own(tag_map(each.get("Tags")), cluster)
    ]


def selected(instances: Sequence[Instance], node: str, *, stack: str) -> str:
    """Return the instance id of a node; without a name, of the only node.

    Raises:
        WrongUseError: no running instance has the name, or there are several; lists them.
    """
    names = [(each.identifier, each.dns_name, each.address) for each in instances]
    matching = [known[0] for known in names if not node or node in known]
    if len(matching) == 1:
        return matching[0]
    listed = "".join(f"\n  {each.line}" for each in instances)
    if not instances:
        raise failures.CommandError(f"{stack} has no running instance")
    if node:
        raise failures.WrongUseError(f"{stack} has no running node {node}; its nodes:{listed}")
    raise failures.WrongUseError(f"{stack} has several nodes; name one:{listed}")


def _deployable(stack: str, path: options.StackFilePath, *, sandbox: bool) -> StackFile:
    if sandbox:
        raise failures.WrongUseError(
            "the sandbox runs no machines, so there is no node to log in to. Its Kubernetes API "
            f"servers are real: `./trainyard kubeconfig {stack} --sandbox`"
        )
    return options.stack_file(stack, path=path, sandbox=False)


def _running(file: StackFile) -> list[Instance]:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from trainyard.components.account.call_failures import CLIENT, explained
    from trainyard.stack_files.stack_config import config_of

    cluster = config_of(file).name
    try:
        with account_access(sandbox=False, profile=file.profile):
            ec2 = boto3.client("ec2", region_name=file.region, config=CLIENT)
            pages = ec2.get_paginator("describe_instances").paginate(
                Filters=[
                    {"Name": "instance-state-name", "Values": ["running"]},
                    {"Name": "tag-key", "Values": [*CLUSTER_TAGS]},
                ]
            )
            return instances_of(pages.build_full_result()["Reservations"], cluster)
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(explained("ec2:DescribeInstances", error)) from error


def _become(command: Sequence[str], file: StackFile) -> NoReturn:
    """Print a command and replace this process with it."""
    needed = [command[0], *(["session-manager-plugin"] if command[0] == "aws" else [])]
    for program in needed:
        if shutil.which(program) is None:
            raise failures.WrongUseError(
                f"`{shlex.join(command)}` needs {program}, which is not on the PATH; install it: "
                f"{_INSTALL[program]}"
            )
    console.progress(shlex.join(command))
    environment = profile_environment(os.environ, file.profile)
    os.execvpe(command[0], [*command], environment)  # noqa: S606 - no shell
