"""The summary of a ParallelCluster stack after `up`, and that of `status`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainyard.cli.closing_panel import Summary, first_jobs, print_closing_panel, read_summary
from trainyard.cli.panel import FactsTable, end_commands

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


def show_summary(workspace: Workspace, changes: Mapping[str, int]) -> None:
    """Print the summary; CloudFormation has waited for the head node and the static nodes."""
    print_summary(read_summary(workspace, changes))


def print_summary(summary: Summary) -> None:
    """Print the panel, then the next commands, which are not wrapped."""
    emulated = "emulated AWS, real ParallelCluster"
    print_closing_panel(summary, _table(summary), next_commands(summary), emulated=emulated)


def next_commands(summary: Summary) -> list[str]:
    """Return the next commands."""
    outputs, target = summary.outputs, summary.target
    # In the sandbox, no machine runs as head node.
    ways_in = [] if target.is_sandbox else [outputs.get("ssh_command"), outputs.get("ssm_command")]
    submit = () if target.is_sandbox else ("--submit", "--wait")
    return [
        *(way for way in ways_in if way),
        target.command("artifact", "cluster-config"),
        *(target.command("job", job, *submit) for job in _jobs(outputs)),
        *end_commands(target),
    ]


def _jobs(outputs: Mapping[str, Any]) -> list[str]:
    queues = outputs.get("queues", {}).values()
    return first_jobs(each["instance_type"] for queue in queues for each in queue.values())


def _table(summary: Summary) -> FactsTable:
    outputs, table = summary.outputs, FactsTable()
    table.add_fact(
        "cluster", f"{outputs['cluster_name']}, ParallelCluster {outputs['cluster_version']}"
    )
    fleet = outputs["compute_fleet_status"]
    table.add_fact("status", f"{outputs['cluster_status']}, compute fleet {fleet}")
    table.add_fact("head node", _head_node(outputs["head_node"]))
    for name in ("ssh", "ssm"):
        if outputs.get(f"{name}_command"):
            table.add_fact(name, str(outputs[f"{name}_command"]))
    for name, fact in cluster_facts(outputs):
        table.add_fact(name, fact)
    if outputs.get("log_group"):
        table.add_fact("logs", str(outputs["log_group"]))
    for note in (*_messages(outputs.get("validation_messages")), *(outputs.get("notes") or [])):
        table.add_fact("note", str(note))
    return table


def cluster_facts(outputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the partitions with their nodes, and the file systems, from planned or real outputs."""
    for queue, resources in outputs.get("queues", {}).items():
        for resource, nodes in resources.items():
            yield f"partition {queue}", _nodes(queue, resource, nodes)
    for name, system in outputs.get("file_systems", {}).items():
        yield f"storage {name}", _file_system(system)


def _head_node(head_node: Mapping[str, Any]) -> str:
    public = head_node.get("public_ip")
    addresses = f"{public}, inside {head_node['private_ip']}" if public else head_node["private_ip"]
    return f"{head_node['instance_id']}  {addresses}"


def _nodes(queue: str, resource: str, nodes: Mapping[str, Any]) -> str:
    """Return the number of nodes, and their names in Slurm syntax.

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
    kept = ", kept after the cluster" if system.get("outlives_the_cluster") else ""
    return f"{system['type']} at {system['mount_directory']}{kept}"


def _messages(said: object) -> Iterator[str]:
    """Yield the warnings of ParallelCluster's validators from an output with JSON, if any.

    The custom resource truncates long text; a truncated output is yielded unchanged.
    """
    if not isinstance(said, str) or not said:
        return
    try:
        messages: list[dict[str, str]] = json.loads(said) or []
    except ValueError:
        yield said
        return
    yield from (each["message"] for each in messages if each["level"] != "INFO")
