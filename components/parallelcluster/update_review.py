"""Refuse cluster changes that ParallelCluster would refuse, before the update starts.

ParallelCluster compares the configurations during the update, and a refusal fails the
CloudFormation stack. This check has the deployed configuration before any resource is registered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.components.config.problems import ROOT, Problem, set_command, show
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.update_changes import Change, changes
from trainyard.components.parallelcluster.update_keys import stack_key
from trainyard.components.parallelcluster.update_verdicts import Update, Way, refused

_STRATEGY = f"{ROOT}.architecture.slurm.queue_update_strategy"
_WHY: Mapping[Way, str] = {
    Way.NONE: "ParallelCluster cannot change this in an existing cluster",
    Way.STOP: "ParallelCluster changes this only while the compute fleet is stopped",
    Way.STOP_OR_TERMINATE: (
        "ParallelCluster removes nodes only with the queue update strategy TERMINATE, or while "
        "the compute fleet is stopped"
    ),
    Way.STOP_OR_STRATEGY: (
        "ParallelCluster changes nodes only with the queue update strategy DRAIN or TERMINATE, or "
        "while the compute fleet is stopped"
    ),
    Way.WITHOUT_LUSTRE: (
        "ParallelCluster would have to replace its FSx for Lustre file system, and rejects the "
        "update"
    ),
}


def update_problems(
    deployed: Mapping[str, Any],
    rendered: Mapping[str, Any],
    *,
    stack_file: str,
    cluster_name: str = "NAME",
    fleet_stopped: bool = False,
) -> Iterator[Problem]:
    """Yield the changes that ParallelCluster would refuse, each with its remedy.

    Args:
        deployed: Deployed cluster configuration; CloudFormation can have converted numbers and
            booleans to strings.
        rendered: New configuration. A `Reference` counts as equal to the deployed value.
        stack_file: Name of the stack file.
        cluster_name: Name of the cluster, for the commands in remedies.
        fleet_stopped: Whether the compute fleet is stopped, so that no compute nodes run.
    """
    found = tuple(changes(deployed, rendered))
    update = Update(deployed=deployed, wanted=rendered, changes=found, fleet_stopped=fleet_stopped)
    seen: set[str] = set()
    for change in found:
        way, key = refused(change, update), _key(change)
        # One stack file key can map to several settings, such as a placement group.
        if way is None or key in seen:
            continue
        seen.add(key)
        yield Problem(
            path=key,
            problem=f"{_what(change)}: {_WHY[way]}",
            found=_shown(change.new),
            allowed=None if change.old is None else f"as deployed: {show(_shown(change.old))}",
            remedy=_REMEDIES[way](stack_file, cluster_name),
        )


def _key(change: Change) -> str:
    return stack_key((*change.path, change.key, *filter(None, [change.item])))


def _what(change: Change) -> str:
    setting = ".".join((*change.path, change.key))
    if change.old is None:
        return f"adds `{setting}`"
    return f"removes from `{setting}`" if change.new is None else f"changes `{setting}`"


def _shown(value: Any) -> Any:
    """Return a value for messages: an item by its name, a reference by its target."""
    plain = resolve(value, _reference_in_words)
    if isinstance(plain, Mapping) and "Name" in plain:
        return plain["Name"]
    return plain


def _reference_in_words(reference: Reference) -> str:
    return f"{reference.kind} {reference.name}"


def _keep(_stack_file: str, _cluster_name: str) -> str:
    return (
        "revert it; to apply it, run `destroy` and `up`, or create another stack, with another "
        "`name`"
    )


def _stop(_stack_file: str, cluster_name: str) -> str:
    pcluster = f"--cluster-name {cluster_name}"
    return (
        f"`pcluster update-compute-fleet {pcluster} --status STOP_REQUESTED` terminates nodes and "
        f"jobs; when `pcluster describe-compute-fleet {pcluster}` returns STOPPED, run `up` again, "
        "and then the first command with START_REQUESTED"
    )


def _terminate(stack_file: str, cluster_name: str) -> str:
    command = set_command(_STRATEGY, "TERMINATE", stack_file=stack_file)
    return (
        f"{command} for this update, which terminates the jobs on removed nodes; or stop the fleet "
        f"first: {_stop(stack_file, cluster_name)}"
    )


def _strategy(stack_file: str, cluster_name: str) -> str:
    command = set_command(_STRATEGY, "DRAIN", stack_file=stack_file)
    return (
        f"{command}, which waits for jobs to end before it replaces their nodes; or stop the fleet "
        f"first: {_stop(stack_file, cluster_name)}"
    )


def _without_lustre(_stack_file: str, _cluster_name: str) -> str:
    return (
        "revert the subnets; or mount the file system by its id, as an entry of `storage` with "
        "another name and `kind: existing-fsx-lustre`: it is kept if it has `deletion_protection`"
    )


_REMEDIES = {
    Way.NONE: _keep,
    Way.STOP: _stop,
    Way.STOP_OR_TERMINATE: _terminate,
    Way.STOP_OR_STRATEGY: _strategy,
    Way.WITHOUT_LUSTRE: _without_lustre,
}
