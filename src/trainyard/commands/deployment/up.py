"""`up`: deploy the stack file, with the policy pack attached."""

from __future__ import annotations

from trainyard.cli import options
from trainyard.cli.waiting import wait_seconds
from trainyard.deployment import network_summary
from trainyard.deployment.duplicates import tell_duplicates
from trainyard.deployment.engine_commands import (
    Show,
    changed_guarded,
    opened,
    require_answer,
)
from trainyard.deployment.operation_end import finish
from trainyard.deployment.retained import report_retained
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.workspace.accounts import account_of


def up(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    replace: options.Replace = None,
    verify: options.Verify = False,
    verbose: options.Verbose = False,
) -> None:
    """Deploy the stack file; always shows a preview first."""
    require_answer(yes=yes, command="up")
    # Reject a wrong value, and what cannot be verified, before any resource is created.
    wait_seconds(account_of(sandbox=sandbox))
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    then = None
    if verify:
        from trainyard.schedulers.deployed_stack import DeployedStack
        from trainyard.verify.up_verification import planned_verification

        then = planned_verification(DeployedStack(target))
    workspace = opened(target, "up", checks_config=True)
    show = Show(yes, verbose)
    result = changed_guarded(workspace, "up", show=show, replace=replace or ())
    tell_duplicates(workspace)
    if result.exit_code and not result.declined:
        report_retained(target, destroyed=False)
    finish(result, workspace, "up")
    if scheduler_class(target.stack_file) is None:
        network_summary.show_summary(workspace, result.changes)
    else:
        scheduler_of(target).show_deployed(workspace, result.changes)
    if then is not None:
        then()
