"""`refresh`: update the state of a stack from the account."""

from __future__ import annotations

from trainyard.cli import console, options
from trainyard.deployment.engine_commands import Show, changed, opened_deployed, require_answer
from trainyard.deployment.operation_end import finish
from trainyard.sandboxes.session import not_deployed
from trainyard.workspace.recovery.gone import forget_gone
from trainyard.workspace.workspace import Workspace


def refresh(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    cluster_gone: options.ClusterGone = False,
    verbose: options.Verbose = False,
) -> None:
    """Update the state from the account. Changes nothing in the account."""
    require_answer(yes=yes, command="refresh")
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = opened_deployed(target, "refresh", cluster_gone=cluster_gone)
    if deployed is None:
        raise not_deployed(target)
    workspace, variables = deployed
    _forget_gone(workspace)
    show = Show(yes, verbose)
    result = changed(workspace, "refresh", show=show, variables=variables)
    finish(result, workspace, "refresh")


def _forget_gone(workspace: Workspace) -> None:
    target = workspace.target
    forget_gone(
        workspace.command,
        stack=target.stack,
        region=target.region,
        settings=target.account.settings,
        timeouts=target.account.timeouts,
        report=console.progress,
    )
