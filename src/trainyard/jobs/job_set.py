"""A job as Kubernetes runs it: an indexed Job of its own, or the only Job of a JobSet.

Both have one pod for each node, with a name in DNS. An indexed Job needs a headless Service for
that; JobSet makes it, and starts all pods again together.

Source:
    https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
    https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go:
        names of Jobs (`ReplicatedJob.Replicas`), names of pods (`Network.EnableDNSHostnames`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.catalog.kueue import JOBSET_API, JOBSET_GROUP, QUEUE_LABEL
from trainyard.jobs.nodes import JobNodes

JOB, JOB_SET = "Job", "JobSet"
_GROUP = "nodes"
"""Name of the group of Jobs in a JobSet, which has one Job."""


def job_name_in(kind: str, name: str) -> str:
    """Return the name of the Job that has the pods.

    Args:
        kind: `Job` or `JobSet`.
        name: The name of that object.
    """
    return f"{name}-{_GROUP}-0" if kind == JOB_SET else name


def pod_host(name: str, nodes: JobNodes, index: int | str) -> str:
    """Return the name of a pod in DNS.

    Args:
        name: Name of the job.
        nodes: Its nodes.
        index: Completion index of the pod, or a variable of a script with it.
    """
    return f"{_job_name(name, nodes)}-{index}.{name}"


def pod_selector(name: str, nodes: JobNodes) -> dict[str, str]:
    """Return the labels of the pods of a job.

    https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name
    """
    return {"batch.kubernetes.io/job-name": _job_name(name, nodes)}


def _job_name(name: str, nodes: JobNodes) -> str:
    return job_name_in(JOB if nodes.failure_policy is None else JOB_SET, name)


def services(
    metadata: Mapping[str, Any], nodes: JobNodes, port_name: str, port: int
) -> list[dict[str, Any]]:
    """Return the headless Service for the names of the pods; empty if JobSet makes it."""
    if nodes.failure_policy is not None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**metadata, "labels": {**metadata["labels"]}},
            "spec": {
                "clusterIP": "None",
                # Pods look for each other before they are ready.
                "publishNotReadyAddresses": True,
                "selector": pod_selector(metadata["name"], nodes),
                "ports": [{"name": port_name, "port": port}],
            },
        }
    ]


def submitted(job: Mapping[str, Any], nodes: JobNodes) -> dict[str, Any]:
    """Return what is submitted for a Job: itself or its JobSet, suspended if a queue starts it.

    https://kueue.sigs.k8s.io/docs/tasks/run/jobs/ and
    https://kueue.sigs.k8s.io/docs/tasks/run/jobsets/
    """
    made = {**job}
    if nodes.failure_policy is not None:
        made = {
            "apiVersion": f"{JOBSET_GROUP}/{JOBSET_API}",
            "kind": JOB_SET,
            "metadata": job["metadata"],
            "spec": {
                "failurePolicy": nodes.failure_policy,
                "replicatedJobs": [
                    {"name": _GROUP, "replicas": 1, "template": {"spec": job["spec"]}}
                ],
            },
        }
    if nodes.queue is None:
        return made
    labels = {**made["metadata"].get("labels", {}), QUEUE_LABEL: nodes.queue}
    return {
        **made,
        "metadata": {**made["metadata"], "labels": labels},
        "spec": {"suspend": True, **made["spec"]},
    }
