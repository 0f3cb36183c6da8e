"""`ssm`: open a shell on a node of a stack with Session Manager."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from trainyard.cli import failures, options
from trainyard.components.quotas.lookup import CLUSTER_TAGS, is_own
from trainyard.components.tagging import tag_map
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.workspace.shells import become, stack_with_nodes
from trainyard.workspace.target import Target


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
    target = stack_with_nodes(stack, stack_file, sandbox=sandbox)
    if target.stack_file.facts.made_by_parallelcluster and not node:
        outputs = deployed_stack(context, target).outputs(show_secrets=False)
        become(shlex.split(str(outputs["ssm_command"])), target)
    instance = selected(_running(target), node, stack=stack)
    arguments = ["ssm", "start-session", "--target", instance, "--region", target.region]
    become(["aws", *arguments], target)


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


def _running(target: Target) -> list[Instance]:
    from botocore.exceptions import BotoCoreError, ClientError

    from trainyard.components.account.call_failures import explained
    from trainyard.stack_files.stack_config import config_of

    cluster = config_of(target.stack_file).name
    try:
        with target.access():
            ec2 = target.client("ec2")
            pages = ec2.get_paginator("describe_instances").paginate(
                Filters=[
                    {"Name": "instance-state-name", "Values": ["running"]},
                    {"Name": "tag-key", "Values": [*CLUSTER_TAGS]},
                ]
            )
            return instances_of(pages.build_full_result()["Reservations"], cluster)
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(explained("ec2:DescribeInstances", error)) from error
