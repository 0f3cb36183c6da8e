"""`destroy`: delete the resources of a stack."""

from __future__ import annotations

from trainyard.cli import console, options
from trainyard.deployment import protected
from trainyard.deployment.duplicates import tell_duplicates
from trainyard.deployment.engine_commands import Show, changed, opened_deployed, require_answer
from trainyard.deployment.gone_cluster import delete_what_eks_left
from trainyard.deployment.inhabited_network import refuse_inhabited
from trainyard.deployment.operation_end import finish
from trainyard.deployment.retained import report_retained


def destroy(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    cluster_gone: options.ClusterGone = False,
    verbose: options.Verbose = False,
) -> None:
    """Delete the resources of the stack, except protected ones, and list those."""
    require_answer(yes=yes, command="destroy")
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = opened_deployed(target, "destroy", cluster_gone=cluster_gone)
    if deployed is None:
        console.answer(f"the sandbox has no stack {stack}: nothing to destroy")
        return
    workspace, variables = deployed
    before = protected.kept_objects(workspace)
    if target.stack_file.facts.holds_other_stacks:
        refuse_inhabited(before, target)
    # The engine refuses to start if a resource is protected, unless it may skip protected
    # resources.
    keeps = any(each.protected for each in before)
    flags = [protected.FLAG] if keeps else []
    show = Show(yes, verbose)
    result = changed(workspace, "destroy", show=show, flags=flags, variables=variables)
    ended = not result.declined and not result.interrupted
    if cluster_gone and ended and delete_what_eks_left(target) and result.exit_code:
        # The group kept the engine from deleting the VPC.
        again = Show(yes=True, verbose=verbose)
        result = changed(workspace, "destroy", show=again, flags=flags, variables=variables)
    tell_duplicates(workspace)
    finish(result, workspace, "destroy")
    target.kubeconfig_path.unlink(missing_ok=True)
    if keeps:
        kept = protected.kept_objects(workspace)
        console.answer(protected.explanation(kept, before, target=target))
    else:
        console.answer(protected.how_to_forget(target))
    report_retained(target, destroyed=True)
