"""A directory with everything that explains the state of a stack."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kubernetes import client

from trainyard.components.batch.account import environments_of
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
from trainyard.components.plain_text import legible
from trainyard.components.runtime.workload_plan import NAMESPACE
from trainyard.components.secret_documents import shareable
from trainyard.components.secret_text import without_secrets
from trainyard.diagnosis.known_errors import KnownError, Source, known_error
from trainyard.diagnosis.node_groups import health_issues
from trainyard.diagnosis.pods import name_of, read_pod_log, reason_of
from trainyard.stack_files.files import write_private

# Complete reasons of a failed Slurm cluster, from the events of its CloudFormation stack.
#
# The custom resource passes on at most 256 characters of a reason, and the cluster's own stack is
# deleted after a failed creation. Its events can be read by its id for 90 days.
#
# Source:
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStacks.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-fc-v3-create-cluster.html


_FAILED = ("CREATE_FAILED", "UPDATE_FAILED")
_CONSEQUENCES = ("Resource creation cancelled", "Resource update cancelled")
"""Reasons of resources that only ended because another one had failed."""
_STACK = "AWS::CloudFormation::Stack"
_RECENT = timedelta(hours=2)
"""Age of the events of one operation: a custom resource has an hour, and the rollback follows.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html"""


def failed_resources(cloudformation: Any, cluster: str, *, now: datetime) -> list[str]:
    """Return the resources of a cluster that failed in its last operation, with their reasons.

    Args:
        cloudformation: A boto3 client.
        cluster: Name of the cluster, and of its stack.
        now: Current time, timezone-aware.

    Raises:
        ClientError, BotoCoreError: CloudFormation refused a request or did not respond.
    """
    pages = cloudformation.get_paginator("list_stacks").paginate()
    stacks = [
        each for page in pages for each in page["StackSummaries"] if each["StackName"] == cluster
    ]
    if not stacks:
        return []
    newest = max(stacks, key=lambda each: each["CreationTime"])["StackId"]
    return [*_failed_events(cloudformation, newest, since=now - _RECENT)]


def _failed_events(cloudformation: Any, stack_id: str, *, since: datetime) -> Iterator[str]:
    pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id)
    events = [event for page in pages for event in page["StackEvents"]]
    for event in reversed(events):
        reason = event.get("ResourceStatusReason", "")
        if event["ResourceStatus"] not in _FAILED or event["Timestamp"] < since:
            continue
        if _is_of_stack(event, stack_id) or reason.startswith(_CONSEQUENCES):
            continue
        if event["ResourceType"] == _STACK and event.get("PhysicalResourceId"):
            yield from _failed_events(cloudformation, event["PhysicalResourceId"], since=since)
        else:
            yield f"{event['LogicalResourceId']} ({event['ResourceType']}): {reason}"


def _is_of_stack(event: Mapping[str, Any], stack_id: str) -> bool:
    """Whether the event is about the stack as a whole, whose reason only lists resources."""
    return event.get("PhysicalResourceId") == stack_id


# A directory with everything that explains the state of a stack.
#
# A part that cannot be read is noted, and does not stop the others: a bundle is made when something
# is broken. `trainyard.components.secret_documents` leaves out what looks like a secret, and what
# is given to programs of users. Only the owner can read the files.


SUMMARY = "summary.md"
_LONGEST_REASON = 300

Read = TypeVar("Read")


@dataclass(slots=True)
class Bundle:
    """The directory, and what is known so far."""

    directory: Path
    """An existing, empty directory."""
    files: list[str] = field(default_factory=list[str])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Why a part could not be read, by part."""
    causes: list[str] = field(default_factory=list[str])
    """What is wrong, the most likely cause of problems first."""
    _errors: dict[str, KnownError | None] = field(default_factory=dict[str, KnownError | None])
    """The error that has a section of the documentation, by cause."""

    def add(self, name: str, read: Callable[[], Read]) -> Read | None:
        """Write what a function returns to a file, and return it; None if it fails.

        Args:
            name: Path in the directory.
            read: Reads the part; what is not text is written as JSON.
        """
        try:
            found = read()
        except Exception as error:
            self.missing[name] = _reason(error)
            return None
        self._write(name, _text(found))
        self.files.append(name)
        return found

    def blame(self, causes: Iterable[str], source: Source | None = None) -> None:
        """Add causes, each once.

        Args:
            causes: What is wrong.
            source: Who says it; None if that is unknown.
        """
        for each in causes:
            self._blame(each, known_error(each, source))

    def blame_log(self, where: str, error: KnownError | None) -> None:
        """Add the error that the log of a job has; nothing without one.

        The log itself is no part of the bundle: programs of users print what they like.
        """
        if error:
            self._blame(f"the log of {where} has: {error.heading}", error)

    def _blame(self, cause: str, error: KnownError | None) -> None:
        if cause not in self._errors:
            self.causes.append(cause)
            self._errors[cause] = error

    def finish(self, title: str) -> str:
        """Write the summary, and return it."""
        places = {each: f" ({error.more})" for each, error in self._errors.items() if error}
        causes = [f"- {each}{places.get(each, '')}" for each in self.causes]
        missing = [f"- {name}: {why}" for name, why in self.missing.items()]
        lines = [
            f"# {title}",
            "",
            "## Likely causes",
            "",
            *(causes or ["Nothing that is wrong was found."]),
            *(["", "## Not read", "", *missing] if missing else []),
            "",
            "## Files",
            "",
            *(f"- {name}" for name in self.files),
        ]
        text = without_secrets("\n".join(lines)) + "\n"
        self._write(SUMMARY, text)
        return text

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        for parent in reversed(path.relative_to(self.directory).parents[:-1]):
            (self.directory / parent).mkdir(mode=0o700, exist_ok=True)
        write_private(path, text)


def _reason(error: Exception) -> str:
    """Return the first line of an error; an error of the Kubernetes client has a status."""
    status, reason = getattr(error, "status", None), getattr(error, "reason", None)
    said = f"{status} {reason}" if status else str(error) or type(error).__name__
    return legible(without_secrets(said.strip().splitlines()[0]))[:_LONGEST_REASON]


def _text(found: object) -> str:
    if isinstance(found, str):
        return without_secrets(found)
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = dataclasses.asdict(found)
    return json.dumps(shareable(found), indent=2, default=str) + "\n"


def answer(found: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of an AWS call without its metadata."""
    return {name: value for name, value in found.items() if name != "ResponseMetadata"}


# The parts of a bundle about the compute environments and queues of AWS Batch.
#
# Source:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeEnvironmentDetail.html
#     https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html


_STATES = ("RUNNABLE", "STARTING", "RUNNING", "FAILED")
_MOST_JOBS = 20


def add_batch(
    bundle: Bundle, batch: Any, *, cluster: str, queues: Sequence[str]
) -> list[dict[str, Any]]:
    """Add the compute environments and queues of a stack, and their newest jobs.

    Returns the jobs that have failed.

    Args:
        bundle: The bundle.
        batch: A boto3 client.
        cluster: Name of the cluster, which is a tag of its compute environments.
        queues: Names of the job queues.
    """
    found = bundle.add("compute-environments.json", lambda: _environments(batch, cluster)) or []
    invalid = [
        f"compute environment {each['computeEnvironmentName']} is {each['status']}: "
        f"{each.get('statusReason', '')}"
        for each in found
        if each["status"] != "VALID"
    ]
    disabled = [
        f"compute environment {each['computeEnvironmentName']} is disabled"
        for each in found
        if each["state"] != "ENABLED"
    ]
    bundle.blame([*invalid, *disabled], "batch")
    bundle.add(
        "job-queues.json",
        lambda: batch.describe_job_queues(jobQueues=[*queues])["jobQueues"],
    )
    return [
        job
        for queue in queues
        for state in _STATES
        for job in _add_jobs(bundle, batch, queue, state)
    ]


def _environments(batch: Any, cluster: str) -> list[dict[str, Any]]:
    pages = batch.get_paginator("describe_compute_environments").paginate()
    return [dict(each) for each in environments_of(cluster, pages)]


def _add_jobs(bundle: Bundle, batch: Any, queue: str, state: str) -> list[dict[str, Any]]:
    """Add the jobs of a state; return those that have failed."""

    def read() -> list[dict[str, Any]]:
        listed = batch.list_jobs(jobQueue=queue, jobStatus=state, maxResults=_MOST_JOBS)
        ids = [each["jobId"] for each in listed["jobSummaryList"]]
        return batch.describe_jobs(jobs=ids)["jobs"] if ids else []

    found = bundle.add(f"jobs/{queue}-{state.lower()}.json", read) or []
    said = [
        f"job {each['jobId']} ({each['jobName']}) is {state}: {each.get('statusReason')}"
        for each in found
        if each.get("statusReason") and state in ("RUNNABLE", "FAILED")
    ]
    bundle.blame(said, "batch")
    return found if state == "FAILED" else []


# The parts of a bundle about an EKS cluster.
#
# Source:
#     https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeScalingActivities.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GetConsoleOutput.html
#     https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html


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
        issues = [f"node group {name}: {issue}" for issue in health_issues(found or {})]
        bundle.blame(issues, "aws")
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
    refused = [
        f"node group {name}: EC2 launched no instance: {each.get('StatusMessage', '')}"
        for each in (activities or [])[:1]
        if each["StatusCode"] == "Failed"
    ]
    bundle.blame(refused, "aws")


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
) -> tuple[set[str], list[Any]]:
    """Add the objects of a cluster and the logs of its system pods; no Secrets.

    Args:
        bundle: The bundle.
        api: Client of the cluster.
        addons: Names of its self-managed add-ons.
        namespaces: Whose objects are read.
        has_logs: Whether its nodes run containers, which have logs.

    Returns:
        The ids of the instances that are Ready nodes, and the pods that have failed.

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
    bundle.blame(_unready(nodes), "kubernetes")
    for pod in _system_pods(pods) if has_logs else ():
        name = name_of(pod, "metadata", "name")
        read = partial(read_pod_log, core, name, NAMESPACE, tail_lines=_LOG_LINES)
        bundle.add(f"kubernetes/logs/{name}.log", read)
    bundle.blame(_waiting(pods), "kubernetes")
    ready = {_instance_id(each) for each in nodes if _condition(each) is None}
    return ready, [each for each in pods if each.status.phase == "Failed"]


def _add_objects_of_addons(
    bundle: Bundle, objects: Any, addons: Collection[str], namespaces: Collection[str]
) -> None:
    for addon, (name, group, version, plural) in _OBJECTS_OF_ADDONS.items():
        if addon in addons:
            listed = partial(_custom_objects, objects, namespaces, group, version, plural)
            found = bundle.add(f"kubernetes/{name}s.json", listed)
            bundle.blame(_failed(name, found or []), "kubernetes")


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


# The parts of a bundle about a Slurm cluster: CloudFormation, and commands on the head node.
#
# Source:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-v3.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-v3-get-logs.html
#     https://slurm.schedmd.com/sinfo.html (`--list-reasons`)


_LOG_BYTES = 20_000
"""Systems Manager returns 24,000 characters at most."""
_COMMANDS = {
    "slurm/partitions.txt": "sinfo --all",
    "slurm/nodes.txt": "scontrol --oneliner show nodes",
    "slurm/jobs.txt": "squeue --all --states=all --long",
}
_LOGS = (
    "/var/log/slurmctld.log",
    "/var/log/parallelcluster/clustermgtd",
    "/var/log/parallelcluster/slurm_resume.log",
    "/var/log/parallelcluster/slurm_suspend.log",
    "/var/log/chef-client.log",
)
_REASONS = "sinfo --list-reasons --noheader --format='%N %T: %E'"


def add_events(bundle: Bundle, cloudformation: Any, cluster: str, *, now: datetime) -> None:
    """Add the resources of the cluster's CloudFormation stack that failed."""
    failed = bundle.add(
        "cluster-events.json", lambda: failed_resources(cloudformation, cluster, now=now)
    )
    bundle.blame(f"CloudFormation: {each}" for each in failed or [])


def add_head_node(bundle: Bundle, run: Callable[[str], str], *, has_logs: bool) -> None:
    """Add the state of Slurm and the ends of its logs.

    Args:
        bundle: The bundle.
        run: Runs a script on the head node, and returns its standard output.
        has_logs: Whether ParallelCluster runs on the head node, and writes logs.
    """
    reasons = bundle.add("slurm/reasons.txt", lambda: run(f"{_REASONS}\n"))
    lines = [line.strip() for line in (reasons or "").splitlines() if line.strip()]
    bundle.blame((f"Slurm: {line}" for line in lines), "slurm")
    for name, command in _COMMANDS.items():
        bundle.add(name, partial(run, f"{command}\n"))
    if not has_logs:
        bundle.missing["slurm/*.log"] = (
            "the head node of the sandbox has no logs of ParallelCluster"
        )
    for path in _LOGS if has_logs else ():
        name = path.rpartition("/")[2].removesuffix(".log")
        bundle.add(f"slurm/{name}.log", partial(run, f"sudo tail -c {_LOG_BYTES} -- {path}\n"))
