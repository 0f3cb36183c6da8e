"""The summary of an AWS Batch stack after `up`, and that of `status` with its jobs."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.cli.closing_panel import Summary, first_jobs, print_closing_panel, read_summary
from trainyard.cli.panel import FactsTable, end_commands
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.diagnosis.waiting_job import CLOSED, UNFINISHED
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


def show_summary(workspace: Workspace, changes: Mapping[str, int]) -> None:
    """Print the summary; there is nothing to wait for, because nodes start with the jobs."""
    print_summary(read_summary(workspace, changes))


def show_status(summary: Summary) -> None:
    """Print the summary of the last state, with the jobs in the queues."""
    facts = tuple(_queues(summary.outputs, summary.target))
    print_summary(dataclasses.replace(summary, facts=(*facts, *summary.facts)))


def print_summary(summary: Summary) -> None:
    """Print the panel, then the next commands, which are not wrapped."""
    print_closing_panel(summary, _table(summary.outputs), next_commands(summary))


def next_commands(summary: Summary) -> list[str]:
    """Return the next commands: for each job, print the request, then submit it."""
    commands = [
        summary.target.command("job", job, *submit)
        for job in _jobs(summary.outputs)
        for submit in ((), ("--submit",))
    ]
    return [*commands, *end_commands(summary.target)]


def _jobs(outputs: Mapping[str, Any]) -> list[str]:
    environments = outputs.get("compute_environments", {}).values()
    there = outputs.get("job_definitions") or {}
    tests = first_jobs(environment["instance_type"] for environment in environments)
    return [test for test in tests if test in there]


def _table(outputs: Mapping[str, Any]) -> FactsTable:
    table = FactsTable()
    for name, environment in outputs.get("compute_environments", {}).items():
        table.add_fact(f"compute environment {name}", _nodes(environment))
        table.add_fact("job queue", str(environment["job_queue"]))
    for name, definition in (outputs.get("job_definitions") or {}).items():
        count = int(definition["nodes"])
        nodes = "1 node" if count == 1 else f"{count} nodes"
        table.add_fact(f"job definition {name}", f"{nodes}, {definition['image']}")
    if outputs.get("repository_url"):
        table.add_fact("repository", str(outputs["repository_url"]))
    for note in outputs.get("notes") or []:
        table.add_fact("note", str(note))
    return table


def _nodes(environment: Mapping[str, Any]) -> str:
    least, most = int(environment["minimum_vcpus"]), int(environment["maximum_vcpus"])
    known = INSTANCE_TYPES.get(environment["instance_type"])
    name = environment["instance_type"]
    if known is None:
        return f"{least} to {most} vCPUs of {name}"
    return f"{least // known.vcpus} to {most // known.vcpus} x {name}"


def _queues(outputs: Mapping[str, Any], target: Target) -> Iterator[tuple[str, str]]:
    """Yield the number of jobs in each job queue, by state, and the closed environments."""
    from botocore.exceptions import BotoCoreError, ClientError

    with target.access():
        batch = target.client("batch")
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
