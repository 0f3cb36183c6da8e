"""`ssh`: open a shell on the head node of a Slurm cluster."""

from __future__ import annotations

import shlex

import typer

from trainyard.cli import console, failures, options
from trainyard.components.parallelcluster.ssh_review import KEY as SSH_KEY
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.workspace.shells import become, stack_with_nodes


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
    target = stack_with_nodes(stack, stack_file, sandbox=sandbox)
    if not target.stack_file.facts.made_by_parallelcluster:
        raise failures.WrongUseError(
            f"{stack} has no head node; for a shell on a node: {target.command('ssm')}"
        )
    outputs = deployed_stack(context, target).outputs(show_secrets=False)
    if outputs.get("ssh_command") is None:
        console.progress(
            "SSH is closed; Session Manager opens the shell. For SSH, the head node needs a key "
            f"pair, a public subnet and your network in {SSH_KEY}.allowed_cidr"
        )
    become(shlex.split(str(outputs.get("ssh_command") or outputs["ssm_command"])), target)
