"""A Kubernetes API server for the commands for Jobs and JobSets, behind the official client."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.client.rest import RESTResponse
from urllib3 import HTTPResponse

KINDS = {"jobs": "Job", "jobsets": "JobSet"}


class WorkloadApi(client.ApiClient):
    """Jobs, JobSets and pods in memory; records requests that change them, and watched pods.

    Args:
        present: Jobs and JobSets with their `kind`, as the API server would return them one by one.
        has_job_set: Whether the cluster has JobSet.
        keeps: Whether what is deleted stays.
        refused: Status with which objects other than Jobs and JobSets are refused; 0 for none.
        secrets: Keys of the Secrets in all namespaces, by name; None if nobody may read them.
        namespaces: Those of the cluster; None if nobody may read them.
        interrupted_at: Begin of the request at which the user presses Ctrl-C.
    """

    def __init__(
        self,
        present: Sequence[dict[str, Any]] = (),
        *,
        has_job_set: bool = True,
        keeps: bool = False,
        refused: int = 0,
        secrets: Mapping[str, Sequence[str]] | None = None,
        namespaces: Sequence[str] | None = None,
        interrupted_at: str = "",
    ) -> None:
        super().__init__()
        self.present = [*present]
        self.has_job_set, self.keeps, self.refused = has_job_set, keeps, refused
        self.secrets, self.namespaces = secrets, namespaces
        self.interrupted_at = interrupted_at
        self.requests: list[str] = []
        self.made: list[dict[str, Any]] = []
        self.pods_of: list[str] = []
        """Label selectors of the pods that were asked for."""

    def request(
        self,
        method: str,
        url: str,
        query_params: Sequence[tuple[str, Any]] | None = None,
        headers: object = None,
        post_params: object = None,
        body: Any = None,
        **_: object,
    ) -> RESTResponse:
        """Answer instead of the server; the path is that of a request to it."""
        query, path = dict(query_params or ()), urlsplit(url).path.split("/")
        answer = getattr(self, f"_{method.lower()}")(path, query, body)
        content = {"content-type": "application/json"}
        status = 201 if method == "POST" else 200
        return RESTResponse(HTTPResponse(json.dumps(answer).encode(), content, status=status))

    def _get(self, path: list[str], query: Mapping[str, Any], _: object) -> dict[str, Any]:
        if path[-1] == "pods":
            self.pods_of.append(query["labelSelector"])
            return {"items": []}
        if path[-1] in KINDS:
            assert query["labelSelector"] == "app.kubernetes.io/managed-by=trainyard"
            if path[-1] == "jobsets" and not self.has_job_set:
                raise _refused(404, "Not Found")
            return {"items": [each for each in self.present if each["kind"] == KINDS[path[-1]]]}
        *_, namespace, plural, name = path
        if plural == "namespaces":
            return self._namespace(name)
        if plural == "secrets":
            return self._secret(name)
        for each in self.present:
            if (each["kind"], each["metadata"]["name"]) == (KINDS[plural], name):
                assert each["metadata"]["namespace"] == namespace
                return each
        raise _refused(404, "Not Found")

    def _namespace(self, name: str) -> dict[str, Any]:
        if self.namespaces is None:
            raise _refused(403, "Forbidden")
        if name not in self.namespaces:
            raise _refused(404, "Not Found")
        return {"metadata": {"name": name}}

    def _secret(self, name: str) -> dict[str, Any]:
        if self.secrets is None:
            raise _refused(403, "Forbidden")
        if name not in self.secrets:
            raise _refused(404, "Not Found")
        return {"data": dict.fromkeys(self.secrets[name], "cGxhbnRlZA==")}

    def _record(self, request: str) -> None:
        if self.interrupted_at and request.startswith(self.interrupted_at):
            raise KeyboardInterrupt
        self.requests.append(request)

    def _post(self, path: list[str], _: object, body: dict[str, Any]) -> dict[str, Any]:
        if self.refused and path[-1] not in KINDS:
            raise _refused(self.refused, "Conflict")
        self._record(f"create {body['kind']}")
        self.made.append(body)
        return {**body, "metadata": {**body["metadata"], "uid": "u-1"}}

    def _patch(self, path: list[str], _: object, body: dict[str, Any]) -> dict[str, Any]:
        self._record(f"patch {path[-1]} {body}")
        return {}

    def _delete(self, path: list[str], query: Mapping[str, Any], _: object) -> dict[str, Any]:
        kind, policy = KINDS[path[-2]], query["propagationPolicy"]
        self.requests.append(f"delete {kind} {path[-1]} {policy}")
        if not self.keeps:
            self.present = []
        return {}


def _refused(status: int, reason: str) -> ApiException:
    refused = ApiException(status=status, reason=reason)
    refused.body = b"{}"
    return refused


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
