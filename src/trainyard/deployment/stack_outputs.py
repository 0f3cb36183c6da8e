"""What a deployed stack exports, and the workspace to read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.cli import failures
from trainyard.engine.engine_process import EngineFailedError
from trainyard.sandboxes.session import require_stack
from trainyard.workspace.backend import StackMissingError
from trainyard.workspace.session import Purpose, open_workspace, refuse_occupied
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace
from trainyard.workspace.workspace import outputs as read


def document(value: Any) -> str:
    """Return an output that is a document as text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2)


def deployed_cluster(target: Target, outputs: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of the cluster of an EKS stack, and its kubeconfig.

    Args:
        target: The stack and its account.
        outputs: What the stack exports, with secrets.

    Raises:
        CommandError: the stack has no cluster yet.
    """
    if "kubeconfig" not in outputs:
        command = target.command("up")
        raise failures.CommandError(f"{target.stack} has no cluster yet; deploy it: {command}")
    kubeconfig = target.account.usable_kubeconfig(document(outputs["kubeconfig"]))
    return str(outputs["cluster_name"]), kubeconfig


def outputs_of(target: Target, *, show_secrets: bool) -> dict[str, Any]:
    """Return the outputs of a deployed stack.

    Raises:
        NotDeployedError: the stack has no outputs yet.
        StackMissingError: the user's backend does not have the stack.
    """
    workspace = opened_to_read(target)
    try:
        values = read(workspace, show_secrets=show_secrets)
    except EngineFailedError:
        # It may have read a state that another command was writing.
        refuse_occupied(target)
        if not workspace.exists():
            raise StackMissingError(target.stack_file) from None
        raise
    if not values:
        stack = target.stack
        raise failures.NotDeployedError(
            f"{stack} has no outputs yet; deploy it: {target.command('up')}"
        )
    return values


def opened_to_read(target: Target) -> Workspace:
    """Return the workspace of a deployed stack for commands that only read.

    Raises:
        NotDeployedError: the sandbox does not have the stack.
        WrongUseError: no credentials, or no AWS CLI for an EKS stack.
    """
    if target.is_sandbox:
        require_stack(target)
    purpose = Purpose(checks_config=False)
    return open_workspace(target, purpose)
