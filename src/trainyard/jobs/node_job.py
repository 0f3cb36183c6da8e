"""A job with one pod on each node, which do not communicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.jobs.job_set import submitted
from trainyard.jobs.nodes import JobNodes, job_name, placement, shared_memory


def node_job(
    name: str,
    nodes: JobNodes,
    namespace: str,
    container: Mapping[str, Any],
    *,
    deadline_seconds: int | None = None,
) -> dict[str, Any]:
    """Return the job.

    Args:
        name: Name of the job, such as `efa-smoke`.
        nodes: Its nodes.
        namespace: Its namespace.
        container: The container of a pod; it gets `/dev/shm`.
        deadline_seconds: Longest run; None for no limit.
    """
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": nodes.group.name}
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}]  # noqa: S108 - in the container
    deadline = {"activeDeadlineSeconds": deadline_seconds} if deadline_seconds else {}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job_name(name, nodes), "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes.count,
            "parallelism": nodes.count,
            "backoffLimit": 0,
            **deadline,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    **placement(nodes),
                    "containers": [{**container, "volumeMounts": mounts}],
                    "volumes": [shared_memory(nodes)],
                },
            },
        },
    }
    return submitted(job, nodes)
