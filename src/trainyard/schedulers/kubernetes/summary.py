"""The summary of an EKS stack after `up`, and that of `status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.cli import console, failures
from trainyard.cli.closing_panel import Summary, print_closing_panel, read_summary
from trainyard.cli.panel import FactsTable, end_commands
from trainyard.cli.waiting import wait_seconds
from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER
from trainyard.components.catalog.instance_types import instance_type
from trainyard.deployment.stack_outputs import document
from trainyard.diagnosis.node_access import LostAccess
from trainyard.diagnosis.rollout import (
    ClusterState,
    GroupExpectation,
    NodeState,
    expected_of,
    look_at,
    reasons,
    refused_roles,
    wait_until_ready,
)

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReachedCluster:
    """The observed state of a cluster, and how to reach it."""

    state: ClusterState
    kubeconfig: Path
    kubectl: str
    """The `kubectl` command for it, quoted for a shell."""
    lost: Sequence[LostAccess] = ()
    """Roles of nodes that it does not let in."""


def show_summary(workspace: Workspace, changes: Mapping[str, int]) -> None:
    """Write the kubeconfig, wait for the cluster, and print the summary.

    Raises:
        CommandError: nodes or device plugins did not come up in time.
    """
    summary = read_summary(workspace, changes)
    path, kubeconfig = written_kubeconfig(summary)
    account = summary.target.account
    expected, deadline = expected_of(summary.outputs), wait_seconds(account)
    state, missing = wait_until_ready(
        kubeconfig, expected, deadline_seconds=deadline, report=console.progress
    )
    cluster = ReachedCluster(state, path, account.kubectl_command(path))
    print_summary(summary, cluster)
    if missing:
        why = reasons(
            summary.outputs,
            expected,
            state,
            target=summary.target,
            kubectl=cluster.kubectl,
        )
        raise failures.CommandError(
            f"the cluster is deployed, but after {deadline:.0f} s:\n"
            + "".join(f"  {sentence}\n" for sentence in (*missing, *why))
            + f"  after fixing the cause:  {summary.target.command('up')}"
        )


def show_status(summary: Summary) -> None:
    """Print the summary of the last state, with what the cluster lacks."""
    path, kubeconfig = written_kubeconfig(summary)
    state, silence = look_at(kubeconfig)
    expected = expected_of(summary.outputs)
    missing = [silence] if state is None else state.missing(expected)
    kubectl = summary.target.account.kubectl_command(path)
    lost = () if state is None else _lost(summary, expected, state, kubectl)
    told = (*(("missing", sentence) for sentence in missing), *(("cause", e.cause) for e in lost))
    print_summary(
        replace(summary, facts=(*told, *summary.facts)),
        ReachedCluster(state or ClusterState((), (), ()), path, kubectl, lost),
    )


def _lost(
    summary: Summary, expected: Sequence[GroupExpectation], state: ClusterState, kubectl: str
) -> Sequence[LostAccess]:
    return refused_roles(summary.outputs, expected, state, target=summary.target, kubectl=kubectl)


def written_kubeconfig(summary: Summary) -> tuple[Path, str]:
    """Write the kubeconfig of a deployed stack, and return its path and its text."""
    return summary.target.write_kubeconfig(document(summary.outputs["kubeconfig"]))


def print_summary(summary: Summary, cluster: ReachedCluster) -> None:
    """Print the panel, then the next commands, which are not wrapped."""
    print_closing_panel(
        summary,
        _table(summary.outputs, cluster),
        next_commands(summary, cluster),
        emulated="emulated AWS, real Kubernetes",
    )


def next_commands(summary: Summary, cluster: ReachedCluster) -> list[str]:
    """Return the next commands; first those that let refused nodes in again."""
    return [
        *(command for each in cluster.lost for command in each.heal),
        f"{cluster.kubectl} get nodes",
        *_test_commands(summary, cluster.state),
        *end_commands(summary.target),
    ]


def _test_commands(summary: Summary, state: ClusterState) -> Iterator[str]:
    """Yield the command of the collective tests, for each node group if there are several.

    Only `verify` runs on nodes that are closed to jobs.
    """
    closed = any(node.closed for node in state.nodes)
    groups: Mapping[str, Any] = summary.outputs.get("node_groups", {})
    for plugin in summary.outputs.get("device_plugins") or []:
        # A device plugin is named after the manufacturer of its devices.
        if plugin not in TESTS_BY_MAKER:
            continue
        able = [name for name, group in groups.items() if _has_devices_of(plugin, group)]
        for option in [("--group", name) for name in able] if len(able) > 1 else [()]:
            if closed:
                yield summary.target.command("verify", *option)
                continue
            job = (TESTS_BY_MAKER[plugin], *option)
            yield summary.target.command("job", *job, "--submit", "--wait")


def _has_devices_of(manufacturer: str, group: Mapping[str, Any]) -> bool:
    accelerators = instance_type(group["instance_type"]).accelerators
    return accelerators is not None and accelerators.manufacturer == manufacturer


def _table(outputs: Mapping[str, Any], cluster: ReachedCluster) -> FactsTable:
    table = FactsTable()
    table.add_fact("cluster", f"{outputs['cluster_name']}, Kubernetes {outputs['cluster_version']}")
    table.add_fact("endpoint", str(outputs["cluster_endpoint"]))
    for name, group in outputs.get("node_groups", {}).items():
        table.add_fact(f"node group {name}", _node_group(group))
    for name, system in outputs.get("file_systems", {}).items():
        table.add_fact(f"storage {name}", _file_system(system))
    for node in cluster.state.nodes:
        state = ", ".join(_node_states(node))
        devices = "".join(f"  {device}: {count}" for device, count in node.devices.items())
        table.add_fact("node", f"{node.name}  {node.instance_type}  {state}{devices}")
    for daemon_set in cluster.state.daemon_sets:
        pods = f"{daemon_set.ready} of {daemon_set.desired} pods Running"
        table.add_fact("DaemonSet", f"{daemon_set.name}  {pods}")
    for arn in outputs.get("aws_auth_role_arns") or []:
        state = "" if arn in cluster.state.aws_auth_roles else "  (missing)"
        table.add_fact("aws-auth", f"{arn}{state}")
    table.add_fact("kubeconfig", str(cluster.kubeconfig))
    for note in outputs.get("notes") or []:
        table.add_fact("note", str(note))
    return table


def _node_states(node: NodeState) -> Iterator[str]:
    yield "Ready" if node.ready else "not Ready"
    if node.verification:
        yield node.verification
    elif node.closed:
        yield "not verified"
    if node.closed:
        yield "closed to jobs"


def _file_system(system: Mapping[str, Any]) -> str:
    return f"{system['file_system_id']}, claim {system['claim']}"


def _node_group(group: Mapping[str, Any]) -> str:
    return f"{group['desired']} x {group['instance_type']}, {group['management']}"
