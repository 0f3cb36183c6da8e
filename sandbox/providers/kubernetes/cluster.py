"""The objects of one cluster: applied, read and deleted through its API server.

Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

import functools
import threading
import time
from typing import Any
from urllib.parse import urlencode

from sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.kubernetes.kinds import Kind
from sandbox.providers.kubernetes.kubeconfig import Access

APPLY = "application/apply-patch+yaml"
DEFAULT_NAMESPACE = "default"
NOT_FOUND = 404
CONFLICT = 409
POLL_SECONDS = 0.1

Object = dict[str, Any]


class NotThereError(ProviderError):
    """The API server does not find what the request is about, such as its namespace."""


class UnreachableError(ProviderError):
    """Nothing answers at the API server's endpoint, as where the cluster was deleted."""


class Cluster:
    """One API server as seen by its administrator; safe to use from several threads."""

    def __init__(self, access: Access) -> None:
        """Prepare connections; the first request gets a token and makes one."""
        self._access = access
        self._kinds: dict[str, dict[str, Any]] = {}
        self.stopping = threading.Event()

    @functools.cached_property
    def _api(self) -> KubernetesApi:
        try:
            return KubernetesApi(
                self._access.server,
                certificate_authority_data=self._access.certificate_authority_data,
                token=self._access.token(),
                timeout_seconds=30.0,
            )
        except ValueError as error:
            raise ProviderError(f"the provider's kubeconfig: {error}") from None

    def apply(
        self, kind: Kind, body: Object, *, manager: str, force: bool, dry_run: bool = False
    ) -> Object:
        """Make the object have the fields of `body`, and let `manager` own them.

        Raises:
            ProviderError: the API server refuses, or a field belongs to another manager.
        """
        query = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        path = f"{self._object_path(kind, body['metadata'])}?{urlencode(query)}"
        try:
            return self._api.patch(path, body, APPLY)
        except ApiError as error:
            if error.status == CONFLICT:
                raise ProviderError(
                    f'{error.message}. The annotation pulumi.com/patchForce: "true" takes the '
                    "fields over"
                ) from error
            raise _refusal(error) from error
        except ApiUnreachableError as error:
            raise _unreachable(error) from error

    def read(self, kind: Kind, metadata: Object) -> Object | None:
        """Return the object, or None where it does not exist."""
        path = self._object_path(kind, metadata)
        try:
            return self._api.get(path)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise _refusal(error) from error
        except ApiUnreachableError as error:
            raise _unreachable(error) from error

    def delete(self, kind: Kind, metadata: Object, *, deadline_seconds: float) -> None:
        """Delete the object with what it owns, and wait until it is gone.

        Raises:
            ProviderError: the API server refuses, or the object is still there at the deadline.
        """
        found = self.read(kind, metadata)
        if found is None:
            return
        uid = found["metadata"]["uid"]
        options = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
        try:
            self._api.delete(self._object_path(kind, metadata), options)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return
            raise _refusal(error) from error
        deadline = time.monotonic() + deadline_seconds
        while (left := self.read(kind, metadata)) and left["metadata"]["uid"] == uid:
            if time.monotonic() > deadline:
                finalizers = ", ".join(left["metadata"].get("finalizers", [])) or "none"
                raise ProviderError(
                    f"still there {deadline_seconds:.0f} s after it was deleted; "
                    f"finalizers: {finalizers}"
                )
            self.pause()

    def pause(self) -> None:
        """Wait for a moment.

        Raises:
            ProviderError: the engine cancels.
        """
        if self.stopping.wait(POLL_SECONDS):
            raise ProviderError("cancelled while it was waited for")

    def _object_path(self, kind: Kind, metadata: Object) -> str:
        described = self._described(kind)
        space = ""
        if described["namespaced"]:
            space = f"/namespaces/{metadata.get('namespace') or DEFAULT_NAMESPACE}"
        return f"{kind.path}{space}/{described['name']}/{metadata['name']}"

    def _described(self, kind: Kind) -> dict[str, Any]:
        if kind.api_version not in self._kinds:
            self._kinds[kind.api_version] = self._discovered(kind)
        kinds = self._kinds[kind.api_version]
        if kind.name not in kinds:
            # A custom resource definition may have come since.
            kinds = self._kinds[kind.api_version] = self._discovered(kind)
        if kind.name not in kinds:
            raise ProviderError(
                f"the cluster's API has no kind {kind.name} in {kind.api_version}; "
                f"it has {', '.join(sorted(kinds)) or 'no such version'}"
            )
        return kinds[kind.name]

    def _discovered(self, kind: Kind) -> dict[str, Any]:
        try:
            resources = self._api.get(kind.path)["resources"]
        except ApiError as error:
            if error.status == NOT_FOUND:
                return {}
            raise _refusal(error) from error
        except ApiUnreachableError as error:
            raise _unreachable(error) from error
        return {entry["kind"]: entry for entry in resources if "/" not in entry["name"]}


def _refusal(error: ApiError) -> ProviderError:
    kind = NotThereError if error.status == NOT_FOUND else ProviderError
    return kind(f"the API server answered {error}")


def _unreachable(error: ApiUnreachableError) -> UnreachableError:
    return UnreachableError(
        f"configured Kubernetes cluster is unreachable: {error}. Its control plane has ended: is "
        "the sandbox running (./trainyard sandbox status)?"
    )
