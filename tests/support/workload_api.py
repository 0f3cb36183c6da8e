"""The part of `CustomObjectsApi` that the commands for Jobs and JobSets use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kubernetes.client import ApiException

KINDS = {"jobs": "Job", "jobsets": "JobSet"}


@dataclass
class WorkloadApi:
    """Jobs and JobSets in memory; records requests that change them."""

    present: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Documents with their `kind`, as the API server would return them one by one."""
    has_job_set: bool = True
    """Whether the cluster has JobSet."""
    requests: list[str] = field(default_factory=list[str])
    made: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keeps: bool = False
    """Whether what is deleted stays."""

    def create_namespaced_custom_object(self, *path: Any) -> dict[str, Any]:
        _group, _version, _namespace, plural, document = path
        self.requests.append(f"create {KINDS[plural]}")
        self.made.append(document)
        return {**document, "metadata": {**document["metadata"], "uid": "u-1"}}

    def get_namespaced_custom_object(self, *path: str) -> dict[str, Any]:
        _group, _version, namespace, plural, name = path
        for each in self.present:
            if (each["kind"], each["metadata"]["name"]) == (KINDS[plural], name):
                assert each["metadata"]["namespace"] == namespace
                return each
        raise ApiException(status=404, reason="Not Found")

    def list_cluster_custom_object(
        self, _group: str, _version: str, plural: str, *, label_selector: str
    ) -> dict[str, Any]:
        assert label_selector == "app.kubernetes.io/managed-by=trainyard"
        if plural == "jobsets" and not self.has_job_set:
            raise ApiException(status=404, reason="Not Found")
        return {"items": [each for each in self.present if each["kind"] == KINDS[plural]]}

    def patch_namespaced_custom_object(self, *path: Any) -> None:
        *_, name, patch = path
        self.requests.append(f"patch {name} {patch}")

    def delete_namespaced_custom_object(self, *path: str, propagation_policy: str) -> None:
        *_, plural, name = path
        self.requests.append(f"delete {KINDS[plural]} {name} {propagation_policy}")
        if not self.keeps:
            self.present = []


def workload(
    name: str,
    *,
    kind: str = "Job",
    namespace: str = "default",
    nodes: int = 2,
    conditions: tuple[dict[str, Any], ...] = (),
    env: dict[str, str] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Return a Job or a JobSet; `changes` are fields of `metadata`, `spec` and `status`."""
    variables = [{"name": key, "value": value} for key, value in (env or {}).items()]
    pod = {"spec": {"containers": [{"env": variables}]}}
    spec: dict[str, Any] = {"completions": nodes, "template": pod}
    if kind == "JobSet":
        spec = {"replicatedJobs": [{"name": "nodes", "template": {"spec": spec}}]}
    metadata = {"name": name, "namespace": namespace, "uid": "u-1", **changes.get("metadata", {})}
    status = {"conditions": [*conditions], **changes.get("status", {})}
    return {
        "kind": kind,
        "metadata": metadata,
        "spec": {**spec, **changes.get("spec", {})},
        "status": status,
    }


def condition(kind: str, status: str = "True", **more: str) -> dict[str, Any]:
    """Return a condition of a Job or a JobSet."""
    return {"type": kind, "status": status, **more}
