"""What a user of a ParallelCluster stack wants to know when `up` is done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from components.catalog.instance_types import INSTANCE_TYPES
from tools.cli.panel import end_commands, facts_table, print_panel

if TYPE_CHECKING:
    from tools.workspace.workspace import Workspace

JOBS = {"nvidia": "nccl-tests", "neuron": "nccom-tests"}
"""The first job for a cluster, by the maker of its accelerators."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the closing panel shows."""

    stack: str
    sandbox: bool
    outputs: Mapping[str, Any]
    changes: Mapping[str, int]
    """Resources by operation, `same` for unchanged ones."""


def show_summary(workspace: Workspace, *, sandbox: bool) -> None:
    """Print the summary; CloudFormation has waited for the head node and the static nodes."""
    from tools.workspace.workspace import last_changes
    from tools.workspace.workspace import outputs as read

    print_summary(
        Summary(
            stack=workspace.stack_file.stack,
            sandbox=sandbox,
            outputs=read(workspace, show_secrets=True),
            changes=last_changes(workspace),
        )
    )


def print_summary(summary: Summary) -> None:
    """Print the panel, then the commands to try next, which are not folded."""
    place = "SANDBOX (emulated AWS, real ParallelCluster)" if summary.sandbox else "AWS"
    print_panel(
        f"{summary.stack} · {place}",
        _table(summary),
        changes=summary.changes,
        commands=next_commands(summary),
    )


def next_commands(summary: Summary) -> list[str]:
    """Return what to try next."""
    flag = " --sandbox" if summary.sandbox else ""
    outputs = summary.outputs
    # There is no machine behind a head node of the sandbox.
    ways_in = [] if summary.sandbox else [outputs.get("ssh_command"), outputs.get("ssm_command")]
    return [
        *(way for way in ways_in if way),
        f"./trainyard artifact {summary.stack} cluster-config{flag}",
        *(f"./trainyard job {summary.stack} {job}{flag}" for job in _jobs(outputs)),
        *end_commands(summary.stack, sandbox=summary.sandbox),
    ]


def _jobs(outputs: Mapping[str, Any]) -> list[str]:
    makers: dict[str, None] = {}
    for resources in outputs.get("queues", {}).values():
        for resource in resources.values():
            known = INSTANCE_TYPES.get(resource["instance_type"])
            if known is not None and known.accelerators is not None:
                makers[known.accelerators.manufacturer] = None
    return [JOBS[maker] for maker in makers]


def _table(summary: Summary) -> Table:
    outputs, table = summary.outputs, facts_table()
    table.add_row(
        "cluster", f"{outputs['cluster_name']}, ParallelCluster {outputs['cluster_version']}"
    )
    fleet = outputs["compute_fleet_status"]
    table.add_row("status", f"{outputs['cluster_status']}, compute fleet {fleet}")
    table.add_row("head node", _head_node(outputs["head_node"]))
    for name in ("ssh", "ssm"):
        if outputs.get(f"{name}_command"):
            table.add_row(name, str(outputs[f"{name}_command"]))
    for queue, resources in outputs.get("queues", {}).items():
        for resource, nodes in resources.items():
            table.add_row(f"partition {queue}", _nodes(queue, resource, nodes))
    for name, system in outputs.get("file_systems", {}).items():
        table.add_row(f"storage {name}", _file_system(system))
    if outputs.get("log_group"):
        table.add_row("logs", str(outputs["log_group"]))
    for note in (*_messages(outputs.get("validation_messages")), *(outputs.get("notes") or [])):
        table.add_row("note", str(note))
    return table


def _head_node(head_node: Mapping[str, Any]) -> str:
    public = head_node.get("public_ip")
    addresses = f"{public}, inside {head_node['private_ip']}" if public else head_node["private_ip"]
    return f"{head_node['instance_id']}  {addresses}"


def _nodes(queue: str, resource: str, nodes: Mapping[str, Any]) -> str:
    """Return how many nodes there are, and their names as Slurm writes them.

    https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html
    """
    static, most = int(nodes["minimum"]), int(nodes["maximum"])
    kinds = [
        f"{queue}-{kind}-{resource}-{'1' if count == 1 else f'[1-{count}]'}"
        for kind, count in (("st", static), ("dy", most - static))
        if count
    ]
    count = f"{static} x" if static == most else f"{static} to {most} x"
    return f"{count} {nodes['instance_type']}  {', '.join(kinds)}"


def _file_system(system: Mapping[str, Any]) -> str:
    kept = ", outlives the cluster" if system.get("outlives_the_cluster") else ""
    return f"{system['type']} at {system['mount_directory']}{kept}"


def _messages(said: object) -> Iterator[str]:
    """Yield the warnings of ParallelCluster's validators: an output that holds JSON, or nothing.

    The custom resource cuts off what is too long, and is then quoted as it is.
    """
    if not isinstance(said, str) or not said:
        return
    try:
        messages: list[dict[str, str]] = json.loads(said) or []
    except ValueError:
        yield said
        return
    yield from (each["message"] for each in messages if each["level"] != "INFO")
