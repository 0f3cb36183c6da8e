"""`outputs` and `artifact`: print what a stack exports."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.engine.engine_process import EngineFailedError
from trainyard.sandboxes.session import require_stack, started_sandbox
from trainyard.schedulers.deployed_stack import DeployedStack, deployed_stack
from trainyard.stack_files.stack_files import EKS, PARALLELCLUSTER, StackFile
from trainyard.workspace.backend_login import NotLoggedInError
from trainyard.workspace.kubeconfig import usable_kubeconfig
from trainyard.workspace.missing_stack import StackMissingError
from trainyard.workspace.session import Purpose, account_access, open_workspace, refuse_occupied
from trainyard.workspace.workspace import Workspace
from trainyard.workspace.workspace import outputs as read

KUBECONFIG = "kubeconfig"
CLUSTER_CONFIG = "cluster-config"
ARTIFACTS = {
    EKS: {KUBECONFIG: "kubeconfig"},
    PARALLELCLUSTER: {CLUSTER_CONFIG: "cluster_config"},
}
"""Artifact names with the stack output that holds each, by architecture kind."""


def outputs(
    context: typer.Context,
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show secret outputs in plain text.")
    ] = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the outputs of a deployed stack."""
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, found, sandbox=sandbox)
    values = deployed.outputs(show_secrets=show_secrets)
    if as_json:
        console.answer_json(values)
        return
    for name, value in values.items():
        console.answer(f"{name}: {_line(value)}")


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
    from trainyard.components.parallelcluster.rendering.cluster import planned_yaml

    if sandbox:
        started_sandbox(console.progress)
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        plan = prepared_in_account(stack_file, sandbox=sandbox).plan
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - no other kind has the document
    return planned_yaml(plan)


def document(value: Any) -> str:
    """Return an output that is a document as text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2)


def deployed_cluster(deployed: DeployedStack) -> tuple[str, str]:
    """Return the name of the cluster of an EKS stack, and its kubeconfig.

    Raises:
        CommandError: the stack has no cluster yet.
    """
    stack_file, sandbox = deployed.stack_file, deployed.sandbox
    outputs = deployed.outputs(show_secrets=True)
    if "kubeconfig" not in outputs:
        command = stack_file.command("up", sandbox=sandbox)
        raise failures.CommandError(f"{stack_file.stack} has no cluster yet; deploy it: {command}")
    kubeconfig = usable_kubeconfig(document(outputs["kubeconfig"]), sandbox=sandbox)
    return str(outputs["cluster_name"]), kubeconfig


def outputs_of(stack_file: StackFile, *, sandbox: bool, show_secrets: bool) -> dict[str, Any]:
    """Return the outputs of a deployed stack.

    Raises:
        NotDeployedError: the stack has no outputs yet.
        StackMissingError: the user's backend does not have the stack.
    """
    workspace = opened_to_read(stack_file, sandbox=sandbox)
    try:
        values = read(workspace, show_secrets=show_secrets)
    except EngineFailedError:
        # It may have read a state that another command was writing.
        refuse_occupied(stack_file, sandbox=sandbox)
        if not workspace.exists():
            raise StackMissingError(stack_file) from None
        raise
    if not values:
        stack = stack_file.stack
        raise failures.NotDeployedError(
            f"{stack} has no outputs yet; deploy it: {stack_file.command('up', sandbox=sandbox)}"
        )
    return values


def opened_to_read(stack_file: StackFile, *, sandbox: bool) -> Workspace:
    """Return the workspace of a deployed stack for commands that only read.

    Raises:
        NotDeployedError: the sandbox does not have the stack.
        WrongUseError: no credentials, or no AWS CLI for an EKS stack.
    """
    if sandbox:
        require_stack(stack_file)
    purpose = Purpose(checks_config=False)
    return open_workspace(stack_file, purpose, sandbox=sandbox)


def _line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
