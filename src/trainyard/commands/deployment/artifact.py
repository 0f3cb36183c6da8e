"""`artifact`: print a document that a stack exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from trainyard.cli import console, failures, options
from trainyard.deployment.stack_outputs import document
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.registry import SCHEDULERS
from trainyard.workspace.backend import NotLoggedInError, StackMissingError
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan

KUBECONFIG = "kubeconfig"
CLUSTER_CONFIG = "cluster-config"


def artifact(
    context: typer.Context,
    stack: options.Stack,
    name: Annotated[str, typer.Argument(help="Name of the document: kubeconfig, cluster-config.")],
    sandbox: options.Sandbox = False,
    planned: Annotated[
        bool,
        typer.Option(
            "--planned",
            help="cluster-config: as the next `up` would write it. Default if there is no cluster.",
        ),
    ] = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Print the kubeconfig, or the configuration that ParallelCluster gets."""
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    own = SCHEDULERS.get(target.stack_file.architecture)
    made = own.artifacts if own else {}
    if name not in made:
        raise failures.WrongUseError(
            f"{stack} has no artifact {name!r}; available: {', '.join(made) or 'none'}"
        )
    if planned and name != CLUSTER_CONFIG:
        raise failures.WrongUseError(f"--planned applies to {CLUSTER_CONFIG}, not to {name}")
    if planned:
        console.answer_document(_planned_configuration(target))
        return
    try:
        deployed = deployed_stack(context, target)
        values = deployed.outputs(show_secrets=True)
    except (failures.NotDeployedError, StackMissingError, NotLoggedInError):
        if name != CLUSTER_CONFIG:
            raise
        console.progress(f"{stack} is not deployed; `up` would write this configuration")
        console.answer_document(_planned_configuration(target))
        return
    if made[name] not in values:
        raise failures.CommandError(
            f"{stack} has no {name} yet; deploy it first: {target.command('up')}"
        )
    text = document(values[made[name]])
    if name == KUBECONFIG:
        text = target.account.usable_kubeconfig(text)
    console.answer_document(text)


def _planned_configuration(target: Target) -> str:
    """Return the configuration of a Slurm cluster from its plan in the account.

    Raises:
        ConfigError: the stack file or the account rejects the configuration.
        AccountUnreachableError: the account cannot be queried.
        WrongUseError: there are no credentials.
    """
    from trainyard.checks.account_check import prepared_in_account
    from trainyard.components.parallelcluster.rendering import planned_yaml

    target.account.start(console.progress)
    with target.access():
        plan = prepared_in_account(target).plan
    return planned_yaml(cast("ParallelClusterPlan", plan))  # no other kind has the document
