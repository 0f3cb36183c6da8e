"""What a user of an EKS stack wants to know when `up` is done."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from tools.cli import console, failures
from tools.cli.artifacts import document
from tools.cli.panel import end_commands, facts_table, print_panel
from tools.cli.rollout import ClusterState, wait_until_ready
from tools.cli.rollout_expectation import expected_of
from tools.cli.session import kubeconfig_path
from tools.workspace.project import write_private

if TYPE_CHECKING:
    from tools.workspace.workspace import Workspace

SANDBOX_DEADLINE_SECONDS = 120.0
ACCOUNT_DEADLINE_SECONDS = 1200.0
"""Until instances that are in service have joined; p5 instances take several minutes to start."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the closing panel shows."""

    stack: str
    sandbox: bool
    outputs: Mapping[str, Any]
    changes: Mapping[str, int]
    """Resources by operation, `same` for unchanged ones."""
    options: str
    """What follows the stack's name in its commands, with a space first."""
    cluster: ClusterState
    kubeconfig: Path
    kubectl: str


def show_summary(workspace: Workspace, *, sandbox: bool) -> None:
    """Write the kubeconfig, wait for the cluster, and print the summary.

    Raises:
        CommandError: nodes or device plugins did not come up in time.
    """
    from tools.workspace.workspace import last_changes
    from tools.workspace.workspace import outputs as read

    outputs = read(workspace, show_secrets=True)
    kubeconfig = document(outputs["kubeconfig"])
    path = kubeconfig_path(workspace.stack_file.stack, sandbox=sandbox)
    write_private(path, kubeconfig)
    deadline = SANDBOX_DEADLINE_SECONDS if sandbox else ACCOUNT_DEADLINE_SECONDS
    cluster, missing = wait_until_ready(
        kubeconfig,
        expected_of(outputs),
        deadline_seconds=deadline,
        report=console.progress,
    )
    print_summary(
        Summary(
            stack=workspace.stack_file.stack,
            sandbox=sandbox,
            outputs=outputs,
            changes=last_changes(workspace),
            options=workspace.stack_file.options(sandbox=sandbox),
            cluster=cluster,
            kubeconfig=path,
            kubectl=_kubectl(sandbox=sandbox),
        )
    )
    if missing:
        raise failures.CommandError(
            f"the cluster is up, but after {deadline:.0f} s:\n"
            + "".join(f"  {sentence}\n" for sentence in missing)
            + _where_to_look(sandbox=sandbox)
        )


def _where_to_look(*, sandbox: bool) -> str:
    if sandbox:
        return "  look at: ./trainyard sandbox status, which names the logs of the nodes"
    return (
        "  look at: the activity history of the Auto Scaling group for launches that failed, the\n"
        "           console output of the instances for nodes that did not join, and `kubectl -n\n"
        "           kube-system describe pods` for plugins that do not run"
    )


def _kubectl(*, sandbox: bool) -> str:
    if shutil.which("kubectl"):
        return "kubectl"
    if not sandbox:
        return "kubectl"
    from tools.cli.sandbox_session import kubectl_wrapper

    return str(kubectl_wrapper())


def print_summary(summary: Summary) -> None:
    """Print the panel, then the commands to try next, which are not folded."""
    place = "SANDBOX (emulated AWS, real Kubernetes)" if summary.sandbox else "AWS"
    print_panel(
        f"{summary.stack} · {place}",
        _table(summary),
        changes=summary.changes,
        commands=next_commands(summary),
    )


JOBS = {"nvidia": "nccl-tests", "neuron": "nccom-tests"}
"""The first job for a cluster, by the device plugin of its accelerators."""


def next_commands(summary: Summary) -> list[str]:
    """Return what to try next."""
    kubectl = f"{summary.kubectl} --kubeconfig {summary.kubeconfig}"
    apply = f"{kubectl} apply -f -"
    return [
        f"{kubectl} get nodes",
        *(
            f"./trainyard job {summary.stack} {JOBS[plugin]}{summary.options} | {apply}"
            for plugin in summary.outputs.get("device_plugins") or []
            if plugin in JOBS
        ),
        *end_commands(summary.stack, summary.options, sandbox=summary.sandbox),
    ]


def _table(summary: Summary) -> Table:
    outputs, cluster = summary.outputs, summary.cluster
    table = facts_table()
    table.add_row("cluster", f"{outputs['cluster_name']}, Kubernetes {outputs['cluster_version']}")
    table.add_row("endpoint", str(outputs["cluster_endpoint"]))
    for name, group in outputs.get("node_groups", {}).items():
        table.add_row(f"node group {name}", _node_group(group))
    for node in cluster.nodes:
        state = "Ready" if node.ready else "not Ready"
        devices = "".join(f"  {device}: {count}" for device, count in node.devices.items())
        table.add_row("node", f"{node.name}  {node.instance_type}  {state}{devices}")
    for daemon_set in cluster.daemon_sets:
        pods = f"{daemon_set.ready} of {daemon_set.desired} pods Running"
        table.add_row("DaemonSet", f"{daemon_set.name}  {pods}")
    for arn in outputs.get("aws_auth_role_arns") or []:
        state = "" if arn in cluster.aws_auth_roles else "  (missing)"
        table.add_row("aws-auth", f"{arn}{state}")
    table.add_row("kubeconfig", str(summary.kubeconfig))
    for note in outputs.get("notes") or []:
        table.add_row("note", str(note))
    return table


def _node_group(group: Mapping[str, Any]) -> str:
    return f"{group['desired']} x {group['instance_type']}, {group['management']}"
