"""What a deployed stack exports, and the workspace to read it."""

from __future__ import annotations

import json
from typing import Any

from trainyard.cli import failures
from trainyard.engine.engine_process import EngineFailedError
from trainyard.sandboxes.session import require_stack
from trainyard.schedulers.deployed_stack import DeployedStack
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.backend import StackMissingError
from trainyard.workspace.kubeconfig import usable_kubeconfig
from trainyard.workspace.session import Purpose, open_workspace, refuse_occupied
from trainyard.workspace.workspace import Workspace
from trainyard.workspace.workspace import outputs as read


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
