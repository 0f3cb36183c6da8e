"""`refresh`: update the state of a stack from the account."""

from __future__ import annotations

from trainyard.cli import console, options
from trainyard.deployment.engine_commands import Show, changed, opened, require_answer, variables_of
from trainyard.deployment.operation_end import finish
from trainyard.sandboxes.session import require_stack
from trainyard.workspace.recovery.gone import forget_gone
from trainyard.workspace.recovery.timeouts import timeouts_of
from trainyard.workspace.session import refuse_occupied
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
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    if sandbox:
        refuse_occupied(found, sandbox=True)
        require_stack(found)
    workspace = opened(found, "refresh", sandbox=sandbox, checks_config=False)
    variables = variables_of(workspace, cluster_gone=cluster_gone, sandbox=sandbox)
    _forget_gone(workspace, sandbox=sandbox)
    show = Show(yes, verbose, sandbox)
    result = changed(workspace, "refresh", show=show, variables=variables)
    finish(result, workspace, "refresh", sandbox=sandbox)


def _forget_gone(workspace: Workspace, *, sandbox: bool) -> None:
    file = workspace.stack_file
    forget_gone(
        workspace.command,
        stack=file.stack,
        region=file.region,
        # The engine's environment has the sandbox's credentials.
        profile="" if sandbox else file.profile,
        timeouts=timeouts_of(sandbox=sandbox),
        report=console.progress,
    )
