"""`status`: the panel of `up`, at any time, without the engine's program."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from trainyard.cli import failures, options
from trainyard.cli.closing_panel import Summary, read_summary
from trainyard.components import clock
from trainyard.components.config.problems import ConfigError
from trainyard.cost.stack_cost import cost_line
from trainyard.deployment import network_summary
from trainyard.deployment.stack_outputs import opened_to_read
from trainyard.diagnosis.waiting_job import CLOSED, UNFINISHED
from trainyard.engine.engine_process import EngineFailedError
from trainyard.schedulers.batch import summary as batch_summary
from trainyard.schedulers.slurm import parallelcluster_summary
from trainyard.stack_files.stack_files import BATCH, NETWORK, PARALLELCLUSTER
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import history


def status(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Show what a deployed stack has: nodes, file systems, jobs. Changes nothing."""
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    workspace = opened_to_read(target)
    try:
        summary = read_summary(workspace, None)
        last = history(workspace, updates=1)
    except EngineFailedError:
        # It may have read a state that another command was writing.
        refuse_occupied(target)
        raise
    facts = tuple(last_update(last))
    if not summary.outputs:
        raise failures.CommandError(
            f"{stack} is not deployed{''.join(f' ({name}: {fact})' for name, fact in facts)}; "
            f"deploy it: {target.command('up')}"
        )
    watched = tuple(_watched(summary.outputs, target))
    costs = tuple(_costs(target))
    _show(dataclasses.replace(summary, facts=(*watched, *costs, *facts)))


def last_update(updates: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the last update of a stack as a fact, from the engine's history.

    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/stack/stack_history.go
    """
    for update in updates[:1]:
        ended, began = update.get("endTime"), update.get("startTime")
        when = _minute(ended) if ended else f"began {_minute(began)}"
        yield "last update", f"{update.get('kind')} {update.get('result')}, {when}"


def _minute(time: object) -> str:
    """Return a time of the history as all output has it; the history has it in UTC."""
    return f"{datetime.fromisoformat(str(time)):%Y-%m-%d %H:%M} UTC"


def _costs(target: Target) -> Iterator[tuple[str, str]]:
    """Yield what the stack file costs; nothing if it has become invalid since the last update."""
    with contextlib.suppress(ConfigError):
        yield "cost", cost_line(target)


def _watched(outputs: Mapping[str, Any], target: Target) -> Iterator[tuple[str, str]]:
    """Yield the newest figures and the alarms of a stack with `monitoring`."""
    if "monitoring" not in outputs:
        return
    import boto3

    from trainyard.monitoring.figures import monitored

    try:
        with target.access():
            client = boto3.client("cloudwatch", region_name=target.region)
            yield from monitored(outputs["monitoring"], client, clock.now())
    except failures.WrongUseError as error:
        yield "monitoring", f"cannot be read: {error}"


def _show(summary: Summary) -> None:
    architecture = summary.target.stack_file.architecture
    if architecture == PARALLELCLUSTER:
        parallelcluster_summary.print_summary(summary)
    elif architecture == BATCH:
        facts = tuple(_queues(summary.outputs, summary.target))
        batch_summary.print_summary(dataclasses.replace(summary, facts=(*facts, *summary.facts)))
    elif architecture == NETWORK:
        network_summary.print_summary(summary)
    else:
        _show_cluster(summary)


def _show_cluster(summary: Summary) -> None:
    from trainyard.deployment.summary import ReachedCluster, print_summary, written_kubeconfig
    from trainyard.diagnosis.rollout import ClusterState, expected_of, look_at

    path, kubeconfig = written_kubeconfig(summary)
    state, silence = look_at(kubeconfig)
    missing = [silence] if state is None else state.missing(expected_of(summary.outputs))
    facts = (*(("missing", sentence) for sentence in missing), *summary.facts)
    print_summary(
        dataclasses.replace(summary, facts=facts),
        ReachedCluster(
            state or ClusterState((), (), ()),
            path,
            summary.target.account.kubectl_command(path),
        ),
    )


def _queues(outputs: Mapping[str, Any], target: Target) -> Iterator[tuple[str, str]]:
    """Yield the number of jobs in each job queue, by state, and the closed environments."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    with target.access():
        batch = boto3.client("batch", region_name=target.region)
        environments = outputs.get("compute_environments", {}).values()
        for queue in dict.fromkeys(str(each["job_queue"]) for each in environments):
            try:
                said = jobs_in(batch, queue)
            except (BotoCoreError, ClientError) as error:
                said = f"cannot be read: {error}"
            yield f"jobs in {queue}", said
        names = [str(each["name"]) for each in environments]
        # The queues have told that the account cannot be read.
        with contextlib.suppress(BotoCoreError, ClientError):
            yield from (("closed", f"{name}: {CLOSED}") for name in disabled_in(batch, names))


def disabled_in(batch: Any, environments: Sequence[str]) -> Iterator[str]:
    """Yield the names of the disabled ones of some compute environments.

    Args:
        batch: A boto3 client.
        environments: Names of compute environments; at most 100, the limit of the call.

    Raises:
        ClientError: Batch rejects the request.
    """
    # Without names, Batch describes the environments of all stacks.
    if not environments:
        return
    found = batch.describe_compute_environments(computeEnvironments=[*environments])
    for each in found["computeEnvironments"]:
        if each["state"] == "DISABLED":
            yield each["computeEnvironmentName"]


def jobs_in(batch: Any, queue: str) -> str:
    """Return the number of jobs of a queue that have not ended, by state.

    `ListJobs` answers for one state, and only for RUNNING without one:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html

    Args:
        batch: A boto3 client.
        queue: Name of the job queue.

    Raises:
        ClientError: Batch rejects the request.
    """
    pages = batch.get_paginator("list_jobs")
    counts = {
        state: sum(
            len(page["jobSummaryList"]) for page in pages.paginate(jobQueue=queue, jobStatus=state)
        )
        for state in UNFINISHED
    }
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none"
