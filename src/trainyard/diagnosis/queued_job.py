"""Why Kueue does not start a job.

Kueue makes a `Workload` for each job of a queue, and writes its reasons into the conditions.

Source:
    https://kueue.sigs.k8s.io/docs/concepts/workload/
    https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_jobs/
"""

from __future__ import annotations

from typing import Any

from kubernetes import client

from trainyard.components.catalog.kueue import JOB_UID_LABEL, KUEUE_API, KUEUE_GROUP
from trainyard.diagnosis.pods import said

_NOT_SEEN = "Kueue has not looked at it yet"


def why_it_is_queued(api: client.ApiClient, namespace: str, uid: str) -> str:
    """Return why a suspended job has not started, in the words of Kueue.

    Args:
        api: Client of the cluster.
        namespace: Namespace of the job.
        uid: Its uid.

    Raises:
        ApiException: the API server refuses the request; 404 if the cluster has no Kueue.
    """
    objects: Any = client.CustomObjectsApi(api)
    found = objects.list_namespaced_custom_object(
        KUEUE_GROUP,
        KUEUE_API,
        namespace,
        "workloads",
        label_selector=f"{JOB_UID_LABEL}={uid}",
    )
    return reason_of_workload(found["items"][0]) if found["items"] else _NOT_SEEN


def reason_of_workload(workload: dict[str, Any]) -> str:
    """Return why a `Workload` is not admitted.

    One that was started and did not get all of its pods ready in time says so; its own waiting is
    the consequence.
    """
    conditions = {each["type"]: each for each in workload.get("status", {}).get("conditions", [])}
    for kind, status in (("Evicted", "True"), ("QuotaReserved", "False")):
        condition = conditions.get(kind)
        if condition and condition["status"] == status:
            return said("", condition.get("message"))
    return _NOT_SEEN
