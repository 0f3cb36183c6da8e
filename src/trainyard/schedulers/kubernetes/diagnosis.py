"""The parts of a bundle of `diagnose` about an EKS cluster: its nodes, workloads and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kubernetes import client

from trainyard.components.eks.plan import EksPlan
from trainyard.deployment.stack_outputs import document
from trainyard.diagnosis.bundle import (
    Bundle,
    EksClients,
    add_account,
    add_cluster,
    add_consoles,
    namespaces_of,
)
from trainyard.diagnosis.job_log import MOST_LOGS
from trainyard.diagnosis.rollout import expected_of, look_at, refused_roles
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.schedulers.kubernetes.job_wait import error_in_logs
from trainyard.schedulers.kubernetes.pod_log import oldest_first
from trainyard.schedulers.kubernetes.submission import MANAGED_SELECTOR
from trainyard.schedulers.kubernetes.workloads import list_workloads
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace, outputs


def diagnose(
    bundle: Bundle, plan: EksPlan, workspace: Workspace, deployed: Mapping[str, Any]
) -> None:
    """Add the node groups, the cluster, and the consoles of instances that have not joined it.

    Args:
        bundle: What is written.
        plan: Plan of the stack.
        workspace: The deployed stack.
        deployed: Its outputs.
    """
    made = workspace.target.client
    clients = EksClients(eks=made("eks"), ec2=made("ec2"), autoscaling=made("autoscaling"))
    groups = deployed.get("node_groups", {})
    running = add_account(bundle, clients, cluster=plan.name, groups=groups)
    read = partial(_cluster, bundle, plan, workspace, deployed)
    ready = bundle.add("kubernetes/ready-instances.txt", read)
    if ready is not None:
        joined = ready.split()
        add_consoles(bundle, clients.ec2, [each for each in running if each not in joined])


def _cluster(
    bundle: Bundle, plan: EksPlan, workspace: Workspace, deployed: Mapping[str, Any]
) -> str:
    found = outputs(workspace, show_secrets=True)["kubeconfig"]
    target = workspace.target
    kubeconfig = target.account.usable_kubeconfig(document(found))
    _blame_access(bundle, target, deployed, kubeconfig)
    with cluster_client(kubeconfig) as api:
        jobs = bundle.add("kubernetes/jobs-in-namespaces.json", lambda: _jobs(api)) or {}
        ready, failed = add_cluster(
            bundle,
            api,
            addons=plan.self_managed_addons,
            namespaces=namespaces_of(plan, jobs),
            has_logs=not target.is_sandbox,
        )
        blame_logs(bundle, api, failed)
        return "\n".join(sorted(ready))


def _blame_access(
    bundle: Bundle, target: Target, deployed: Mapping[str, Any], kubeconfig: str
) -> None:
    """Add the roles of nodes that are not let in, ahead of the nodes that are not Ready."""
    state, _ = look_at(kubeconfig)
    if state is not None:
        kubectl = target.account.kubectl_command(target.kubeconfig_path)
        expected = expected_of(deployed)
        lost = refused_roles(deployed, expected, state, target=target, kubectl=kubectl)
        bundle.blame((each.line for each in lost), "kubernetes")


def blame_logs(bundle: Bundle, api: client.ApiClient, pods: Sequence[Any]) -> None:
    """Add the errors in the logs of pods that have failed, the newest first.

    Args:
        bundle: What is written.
        api: Client of the cluster.
        pods: The pods.
    """
    for pod in reversed(oldest_first(pods)[-MOST_LOGS:]):
        namespace, name = pod.metadata.namespace, pod.metadata.name
        bundle.blame_log(f"pod {namespace}/{name}", error_in_logs(api, namespace, [pod]))


def _jobs(api: client.ApiClient) -> dict[str, list[str]]:
    """Return the names of the jobs that were submitted to a cluster, by namespace."""
    found: dict[str, list[str]] = {}
    for each in list_workloads(api, MANAGED_SELECTOR):
        found.setdefault(each.namespace, []).append(each.name)
    return found
