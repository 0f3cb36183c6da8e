"""`artifact`: print a document that a stack exports."""

from __future__ import annotations

from typing import Annotated

import typer

from trainyard.cli import console, failures, options
from trainyard.deployment.stack_outputs import document
from trainyard.sandboxes.session import started_sandbox
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.stack_files.stack_files import EKS, PARALLELCLUSTER, StackFile
from trainyard.workspace.backend import NotLoggedInError, StackMissingError
from trainyard.workspace.kubeconfig import usable_kubeconfig
from trainyard.workspace.session import account_access

KUBECONFIG = "kubeconfig"
CLUSTER_CONFIG = "cluster-config"
ARTIFACTS = {
    EKS: {KUBECONFIG: "kubeconfig"},
    PARALLELCLUSTER: {CLUSTER_CONFIG: "cluster_config"},
}
"""Artifact names with the stack output that holds each, by architecture kind."""


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
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    made = ARTIFACTS.get(found.architecture, {})
    if name not in made:
        raise failures.WrongUseError(
            f"{stack} has no artifact {name!r}; available: {', '.join(made) or 'none'}"
        )
    if planned and name != CLUSTER_CONFIG:
        raise failures.WrongUseError(f"--planned applies to {CLUSTER_CONFIG}, not to {name}")
    if planned:
        console.answer_document(_planned_configuration(found, sandbox=sandbox))
        return
    try:
        deployed = deployed_stack(context, found, sandbox=sandbox)
        values = deployed.outputs(show_secrets=True)
    except (failures.NotDeployedError, StackMissingError, NotLoggedInError):
        if name != CLUSTER_CONFIG:
            raise
        console.progress(f"{stack} is not deployed; `up` would write this configuration")
        console.answer_document(_planned_configuration(found, sandbox=sandbox))
        return
    if made[name] not in values:
        raise failures.CommandError(
            f"{stack} has no {name} yet; deploy it first: {found.command('up', sandbox=sandbox)}"
        )
    text = document(values[made[name]])
    if name == KUBECONFIG:
        text = usable_kubeconfig(text, sandbox=sandbox)
    console.answer_document(text)


def _planned_configuration(stack_file: StackFile, *, sandbox: bool) -> str:
    """Return the configuration of a Slurm cluster from its plan in the account.

    Raises:
        ConfigError: the stack file or the account rejects the configuration.
        AccountUnreachableError: the account cannot be queried.
        WrongUseError: there are no credentials.
    """
    from trainyard.checks.account_check import prepared_in_account
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan
    from trainyard.components.parallelcluster.rendering import planned_yaml

    if sandbox:
        started_sandbox(console.progress)
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        plan = prepared_in_account(stack_file, sandbox=sandbox).plan
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - no other kind has the document
    return planned_yaml(plan)
