"""The Jobs and JobSets of a cluster, as documents of the Kubernetes API.

`CustomObjectsApi` builds the path of any group, also that of `batch`.

Source:
    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/
    https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException

from trainyard.components.catalog.kueue import JOBSET_API, JOBSET_GROUP
from trainyard.jobs.job_manifest import JOB, JOB_SET, job_name_in, spec_of_job

_RESOURCES = {
    JOB: ("batch", "v1", "jobs"),
    JOB_SET: (JOBSET_GROUP, JOBSET_API, "jobsets"),
}
"""API group, version and plural, by kind."""
_SUCCESS = {JOB: "Complete", JOB_SET: "Completed"}
_FAILURE = "Failed"
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Workload:
    """A Job or a JobSet in a cluster."""

    kind: str
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return self.document["metadata"]["name"]

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.document["metadata"]["namespace"]

    @property
    def uid(self) -> str:
        """Its uid."""
        return self.document["metadata"]["uid"]

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.document["metadata"].get("labels") or {}

    @property
    def job_name(self) -> str:
        """Name of the Job that has the pods."""
        return job_name_in(self.kind, self.name)

    @property
    def job_spec(self) -> Mapping[str, Any]:
        """Spec of that Job."""
        return spec_of_job({**self.document, "kind": self.kind})

    @property
    def is_suspended(self) -> bool:
        """Whether it has not been started."""
        return self.document["spec"].get("suspend") is True

    @property
    def is_being_deleted(self) -> bool:
        """Whether its pods are ended."""
        return "deletionTimestamp" in self.document["metadata"]

    @property
    def is_ready(self) -> bool:
        """Whether a pod of a Job is ready, or all pods of a JobSet."""
        if self.kind == JOB_SET:
            return any(each.get("ready") for each in self._status.get("replicatedJobsStatus", []))
        return bool(self._status.get("ready"))

    @property
    def restarts(self) -> int:
        """How many times a JobSet has started all pods again."""
        return self._status.get("restarts", 0)

    @property
    def end(self) -> Mapping[str, Any] | None:
        """The condition with which it has ended; None if it has not."""
        return self._condition(_SUCCESS[self.kind]) or self.failure

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The condition with which it has failed; None if it has not."""
        return self._condition(_FAILURE)

    @property
    def started_at(self) -> datetime | None:
        """When it was started; for a JobSet, when it was resumed."""
        if self.kind == JOB:
            return _time(self._status.get("startTime"))
        resumed = self._condition("Suspended", "False")
        created = self.document["metadata"].get("creationTimestamp")
        if self.is_suspended:
            return None
        return _time(resumed["lastTransitionTime"] if resumed else created)

    @property
    def ended_at(self) -> datetime | None:
        """When it has ended."""
        end = self.end
        return _time(self._status.get("completionTime") or (end or {}).get("lastTransitionTime"))

    @property
    def _status(self) -> Mapping[str, Any]:
        return self.document.get("status") or {}

    def _condition(self, kind: str, status: str = "True") -> Mapping[str, Any] | None:
        found = self._status.get("conditions") or []
        return next((e for e in found if e["type"] == kind and e["status"] == status), None)


def create_workload(api: client.ApiClient, document: Mapping[str, Any]) -> Workload:
    """Create a Job or a JobSet.

    Raises:
        ApiException: the API server refuses it.
    """
    group, version, plural = _RESOURCES[document["kind"]]
    namespace = document["metadata"]["namespace"]
    made = _objects(api).create_namespaced_custom_object(
        group, version, namespace, plural, document
    )
    return Workload(document["kind"], made)


def find_workload(
    api: client.ApiClient, namespace: str, name: str, kind: str | None = None
) -> Workload | None:
    """Return the Job or JobSet of a name; None if there is none.

    Args:
        api: Client of the cluster.
        namespace: Its namespace.
        name: Its name.
        kind: Its kind; None for any.

    Raises:
        ApiException: the API server refuses the request.
    """
    for each in [kind] if kind else _RESOURCES:
        group, version, plural = _RESOURCES[each]
        try:
            found = _objects(api).get_namespaced_custom_object(
                group, version, namespace, plural, name
            )
        except ApiException as error:
            if error.status != _NOT_FOUND:
                raise
        else:
            return Workload(each, found)
    return None


def list_workloads(api: client.ApiClient, label_selector: str) -> list[Workload]:
    """Return the Jobs and JobSets with some labels, in all namespaces.

    Raises:
        ApiException: the API server refuses the request.
    """
    listed: list[Workload] = []
    for kind, (group, version, plural) in _RESOURCES.items():
        try:
            found = _objects(api).list_cluster_custom_object(
                group, version, plural, label_selector=label_selector
            )
        except ApiException as error:
            if kind == JOB or error.status != _NOT_FOUND:  # a cluster without JobSet
                raise
        else:
            listed += [Workload(kind, each) for each in found["items"]]
    return listed


def patch_workload(api: client.ApiClient, workload: Workload, patch: Mapping[str, Any]) -> None:
    """Change a Job or a JobSet.

    Raises:
        ApiException: the API server refuses the change.
    """
    group, version, plural = _RESOURCES[workload.kind]
    _objects(api).patch_namespaced_custom_object(
        group, version, workload.namespace, plural, workload.name, patch
    )


def delete_workload(
    api: client.ApiClient, workload: Workload, *, propagation_policy: str = "Foreground"
) -> None:
    """Delete a Job or a JobSet with its pods and the objects that it owns.

    Raises:
        ApiException: the API server refuses the request.
    """
    group, version, plural = _RESOURCES[workload.kind]
    _objects(api).delete_namespaced_custom_object(
        group,
        version,
        workload.namespace,
        plural,
        workload.name,
        propagation_policy=propagation_policy,
    )


def owner_reference(workload: Workload) -> dict[str, Any]:
    """Return the reference with which an object is deleted together with its Job or JobSet.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
    """
    group, version, _ = _RESOURCES[workload.kind]
    return {
        "apiVersion": f"{group}/{version}",
        "kind": workload.kind,
        "name": workload.name,
        "uid": workload.uid,
        # Else a foreground deletion ends while the objects are still there.
        "blockOwnerDeletion": True,
    }


def _objects(api: client.ApiClient) -> Any:
    return client.CustomObjectsApi(api)


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
