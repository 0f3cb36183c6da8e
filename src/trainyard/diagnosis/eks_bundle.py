"""The parts of a bundle about an EKS cluster.

Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeScalingActivities.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GetConsoleOutput.html
    https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kubernetes import client

from trainyard.components.catalog.kueue import (
    CONTROLLER_RELEASES,
    JOBSET_API,
    JOBSET_GROUP,
    KUEUE_API,
    KUEUE_GROUP,
    QUEUE_NAMESPACE,
)
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS
from trainyard.components.eks.plan import EksPlan
from trainyard.components.runtime.workload_plan import NAMESPACE
from trainyard.diagnosis.bundle import Bundle, answer
from trainyard.diagnosis.node_groups import health_issues
from trainyard.diagnosis.pod_log import read_pod_log
from trainyard.diagnosis.pods import name_of, reason_of

_MOST_CONSOLES, _MOST_LOGS, _LOG_LINES = 8, 30, 500
_RUNS = ("Running", "Succeeded")
_OBJECTS_OF_ADDONS = {
    "jobset": ("jobset", JOBSET_GROUP, JOBSET_API, "jobsets"),
    "kueue": ("kueue-workload", KUEUE_GROUP, KUEUE_API, "workloads"),
}
"""Name in singular, API group, version and plural of an add-on's objects, by add-on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClients:
    """boto3 clients of a region."""

    eks: Any
    ec2: Any
    autoscaling: Any


def add_account(
    bundle: Bundle, clients: EksClients, *, cluster: str, groups: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Add what the account knows about a cluster; return the ids of its running instances.

    Args:
        bundle: The bundle.
        clients: boto3 clients.
        cluster: Name of the cluster.
        groups: The node groups in the stack's outputs.
    """
    bundle.add("cluster.json", lambda: answer(clients.eks.describe_cluster(name=cluster)))
    for name, output in groups.items():
        _add_group(bundle, clients, cluster, name, output)
    tag = {"Name": f"tag:kubernetes.io/cluster/{cluster}", "Values": ["owned"]}
    found = bundle.add(
        "instances.json",
        lambda: [
            instance
            for reserved in clients.ec2.describe_instances(Filters=[tag])["Reservations"]
            for instance in reserved["Instances"]
        ],
    )
    return [each["InstanceId"] for each in found or [] if each["State"]["Name"] == "running"]


def _add_group(
    bundle: Bundle, clients: EksClients, cluster: str, name: str, output: Mapping[str, Any]
) -> None:
    scaling_group, managed = output.get("autoscaling_group"), output.get("node_group")
    if managed:
        found = bundle.add(
            f"node-groups/{name}.json",
            lambda: clients.eks.describe_nodegroup(clusterName=cluster, nodegroupName=managed)[
                "nodegroup"
            ],
        )
        bundle.blame(f"node group {name}: {issue}" for issue in health_issues(found or {}))
        groups = (found or {}).get("resources", {}).get("autoScalingGroups", [])
        scaling_group = groups[0]["name"] if groups else None
    if not scaling_group:
        return
    bundle.add(
        f"node-groups/{name}-autoscaling.json",
        lambda: clients.autoscaling.describe_auto_scaling_groups(
            AutoScalingGroupNames=[scaling_group]
        )["AutoScalingGroups"],
    )
    activities = bundle.add(
        f"node-groups/{name}-activities.json",
        lambda: clients.autoscaling.describe_scaling_activities(AutoScalingGroupName=scaling_group)[
            "Activities"
        ],
    )
    bundle.blame(
        f"node group {name}: EC2 launched no instance: {each.get('StatusMessage', '')}"
        for each in (activities or [])[:1]
        if each["StatusCode"] == "Failed"
    )


def namespaces_of(plan: EksPlan, jobs: Iterable[str] = ()) -> list[str]:
    """Return the namespaces that a stack uses; others belong to other teams.

    Args:
        plan: The stack: its add-ons, claims and queue. Events of nodes are in that of the queue.
        jobs: Namespaces of the jobs that were submitted to it.
    """
    installed = {each.name for each in plan.addons}
    return sorted(
        {
            NAMESPACE,
            QUEUE_NAMESPACE,
            *(each.namespace for each in EKS_ADDONS if each.name in installed),
            *(
                release.namespace
                for name, release in CONTROLLER_RELEASES.items()
                if name in plan.self_managed_addons
            ),
            *(each.claim.namespace for each in plan.file_systems),
            *jobs,
        }
    )


def add_cluster(
    bundle: Bundle,
    api: client.ApiClient,
    *,
    addons: Collection[str],
    namespaces: Collection[str],
    has_logs: bool,
) -> set[str]:
    """Add the objects of a cluster and the logs of its system pods; no Secrets.

    Args:
        bundle: The bundle.
        api: Client of the cluster.
        addons: Names of its self-managed add-ons.
        namespaces: Whose objects are read.
        has_logs: Whether its nodes run containers, which have logs.

    Returns:
        The ids of the instances that are Ready nodes.

    Raises:
        LookupError: the nodes cannot be read.
    """
    core: Any = client.CoreV1Api(api)
    apps: Any = client.AppsV1Api(api)
    batch: Any = client.BatchV1Api(api)
    lists = {
        "pods": core.list_namespaced_pod,
        "events": core.list_namespaced_event,
        "daemon-sets": apps.list_namespaced_daemon_set,
        "jobs": batch.list_namespaced_job,
    }
    reads: dict[str, list[Callable[[], Any]]] = {
        "nodes": [core.list_node],
        **{name: [partial(each, space) for space in namespaces] for name, each in lists.items()},
    }
    found: dict[str, list[Any]] = {}
    for name, listed in reads.items():
        read = partial(_objects, api, listed, found.setdefault(name, []))
        bundle.add(f"kubernetes/{name}.json", read)
    _add_objects_of_addons(bundle, client.CustomObjectsApi(api), addons, namespaces)
    bundle.add(
        "kubernetes/aws-auth.txt",
        lambda: (core.read_namespaced_config_map("aws-auth", NAMESPACE).data or {}).get(
            "mapRoles", ""
        ),
    )
    if "kubernetes/nodes.json" in bundle.missing:
        raise LookupError("the nodes of the cluster cannot be read")
    nodes, pods = found["nodes"], found["pods"]
    bundle.blame(_unready(nodes))
    for pod in _system_pods(pods) if has_logs else ():
        name = name_of(pod, "metadata", "name")
        read = partial(read_pod_log, core, name, NAMESPACE, tail_lines=_LOG_LINES)
        bundle.add(f"kubernetes/logs/{name}.log", read)
    bundle.blame(_waiting(pods))
    return {_instance_id(each) for each in nodes if _condition(each) is None}


def _add_objects_of_addons(
    bundle: Bundle, objects: Any, addons: Collection[str], namespaces: Collection[str]
) -> None:
    for addon, (name, group, version, plural) in _OBJECTS_OF_ADDONS.items():
        if addon in addons:
            listed = partial(_custom_objects, objects, namespaces, group, version, plural)
            found = bundle.add(f"kubernetes/{name}s.json", listed)
            bundle.blame(_failed(name, found or []))


def _custom_objects(
    objects: Any, namespaces: Collection[str], group: str, version: str, plural: str
) -> list[Any]:
    return [
        each
        for space in namespaces
        for each in objects.list_namespaced_custom_object(group, version, space, plural)["items"]
    ]


def _failed(name: str, objects: list[Any]) -> Iterator[str]:
    """Yield the reasons of objects with the condition `Failed`, which JobSets have."""
    for each in objects:
        metadata = each["metadata"]
        for condition in each.get("status", {}).get("conditions", []):
            if (condition["type"], condition["status"]) == ("Failed", "True"):
                where = f"{metadata['namespace']}/{metadata['name']}"
                yield f"{name} {where} has failed: {condition['message']}"


def _objects(api: client.ApiClient, listed: Iterable[Callable[[], Any]], found: list[Any]) -> Any:
    """Return the objects of lists as JSON values, and keep them in `found`."""
    for each in listed:
        found += each().items
    return api.sanitize_for_serialization(found)


def add_consoles(bundle: Bundle, ec2: Any, instance_ids: list[str]) -> None:
    """Add the console output of instances that are no Ready nodes; Nitro instances have it live."""
    for each in instance_ids[:_MOST_CONSOLES]:
        bundle.add(f"console/{each}.log", partial(_console, ec2, each))
    bundle.blame(
        f"instance {each} runs and is no Ready node; see console/{each}.log"
        for each in instance_ids[:_MOST_CONSOLES]
    )


def _console(ec2: Any, instance_id: str) -> str:
    found = ec2.get_console_output(InstanceId=instance_id, Latest=True).get("Output", "")
    try:
        return base64.b64decode(found, validate=True).decode(errors="replace")
    except ValueError:  # boto3 has decoded it
        return found


def _unready(nodes: list[Any]) -> Iterator[str]:
    for node in nodes:
        condition = _condition(node)
        if condition is not None:
            yield f"node {node.metadata.name} is not Ready: {condition}"
        if node.spec.unschedulable:
            yield f"node {node.metadata.name} is cordoned"


def _waiting(pods: list[Any]) -> Iterator[str]:
    for pod in pods:
        if pod.status.phase not in _RUNS:
            where = f"{pod.metadata.namespace}/{pod.metadata.name}"
            yield f"pod {where} is {pod.status.phase}: {reason_of(pod)}"


def _condition(node: Any) -> str | None:
    """Return why a node is not Ready; None if it is."""
    for each in node.status.conditions or []:
        if each.type == "Ready":
            return None if each.status == "True" else each.message or "no message"
    return "the kubelet has not reported"


def _system_pods(pods: list[Any]) -> list[Any]:
    system = [each for each in pods if each.metadata.namespace == NAMESPACE]
    # Those that do not run explain more.
    return sorted(system, key=lambda each: each.status.phase in _RUNS)[:_MOST_LOGS]


def _instance_id(node: Any) -> str:
    return (node.spec.provider_id or "").rpartition("/")[2]
