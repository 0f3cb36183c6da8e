"""`up`: deploy the stack file, with the policy pack attached."""

from __future__ import annotations

from collections.abc import Mapping

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
from trainyard.deployment.retained import tell_what_stays
from trainyard.schedulers.batch import summary as batch_summary
from trainyard.schedulers.slurm import parallelcluster_summary
from trainyard.stack_files.stack_files import BATCH, NETWORK, PARALLELCLUSTER
from trainyard.workspace.workspace import Workspace


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
    wait_seconds(sandbox=sandbox)
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    then = None
    if verify:
        from trainyard.schedulers.deployed_stack import DeployedStack
        from trainyard.verify.up_verification import planned_verification

        then = planned_verification(DeployedStack(found, sandbox))
    workspace = opened(found, "up", sandbox=sandbox, checks_config=True)
    show = Show(yes, verbose, sandbox)
    result = changed_guarded(workspace, "up", show=show, replace=replace or ())
    tell_duplicates(workspace, sandbox=sandbox)
    if result.exit_code and not result.declined:
        tell_what_stays(found, destroyed=False, sandbox=sandbox)
    finish(result, workspace, "up", sandbox=sandbox)
    _show_summary(workspace, result.changes, sandbox=sandbox)
    if then is not None:
        then()


def _show_summary(workspace: Workspace, changes: Mapping[str, int], *, sandbox: bool) -> None:
    architecture = workspace.stack_file.architecture
    if architecture == PARALLELCLUSTER:
        parallelcluster_summary.show_summary(workspace, changes, sandbox=sandbox)
    elif architecture == BATCH:
        batch_summary.show_summary(workspace, changes, sandbox=sandbox)
    elif architecture == NETWORK:
        network_summary.show_summary(workspace, changes, sandbox=sandbox)
    else:
        from trainyard.deployment.summary import show_summary

        show_summary(workspace, changes, sandbox=sandbox)
