"""The summary of an AWS Batch stack after `up`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trainyard.cli.closing_panel import Summary, first_jobs, print_closing_panel, read_summary
from trainyard.cli.panel import FactsTable, end_commands
from trainyard.components.catalog.instance_types import INSTANCE_TYPES

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


def show_summary(workspace: Workspace, changes: Mapping[str, int]) -> None:
    """Print the summary; there is nothing to wait for, because nodes start with the jobs."""
    print_summary(read_summary(workspace, changes))


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
