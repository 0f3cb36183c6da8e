"""Create, apply, read and delete objects of a cluster through its API server.

Sources: https://kubernetes.io/docs/reference/using-api/server-side-apply/ and
https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/await/await.go
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from trainyard.sandbox.providers._protocol.servicer import ProviderError
from trainyard.sandbox.providers.kubernetes.kinds import Kind
from trainyard.sandbox.providers.kubernetes.kubeconfig import Access
from trainyard.sandbox.providers.kubernetes.managers import CREATOR, taken_over

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
DEFAULT_NAMESPACE = "default"
FORBIDDEN, NOT_FOUND, CONFLICT = 403, 404, 409
POLL_SECONDS = 0.1
CREATION_PAUSES_SECONDS = (1, 2, 4, 8, 16)
"""Pauses between attempts to create an object whose namespace or kind is missing; `SleepingRetry`.
"""
CONFLICT_HELP = (
    "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/"
    "managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources"
)
EXISTS_HELP = """The resource already exists in the cluster. This can happen when:

  - Renaming a Pulumi resource: use an alias to preserve the identity,
    or use deleteBeforeReplace if the resource needs replacement.
  - Managing an existing resource: use a Patch resource (e.g. NamespacePatch)
    to manage specific fields without owning the resource lifecycle.
  - Adopting a resource into Pulumi: use `pulumi import`. Note that
    protected resources (e.g. kube-system) cannot be deleted on destroy.
  - Intentional upsert: set upsertExistingObjects on the provider to allow
    server-side apply to update existing objects on create."""
"""The text of the official provider."""

Object = dict[str, Any]


class RefusalError(ProviderError):
    """The API server rejected a request.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class NotThereError(RefusalError):
    """The API server does not find the target of the request, such as its namespace."""


class ExistsError(RefusalError):
    """The object to create already exists."""


class UnknownKindError(ProviderError):
    """The API server does not have this kind."""


class UnreachableError(ProviderError):
    """The API server's endpoint does not respond, for example because the cluster was deleted."""


class Cluster:
    """Administrator access to an API server; thread-safe."""

    def __init__(self, access: Access) -> None:
        """Prepare connections; the first request gets a token and connects."""
        self._access = access
        self.server = access.server
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

    def has(self, kind: Kind) -> bool:
        """Return whether the API server has the kind."""
        return self._description(kind) is not None

    def is_namespaced(self, kind: Kind) -> bool:
        """Return whether the kind is namespaced; unknown kinds count as namespaced."""
        described = self._description(kind)
        return described is None or bool(described["namespaced"])

    def plural(self, kind: Kind) -> str:
        """Return the resource name of the kind, such as `configmaps` or `daemonsets.apps`."""
        described = self._description(kind)
        group = kind.api_version.rpartition("/")[0]
        return f"{described['name'] if described else kind.name}{'.' if group else ''}{group}"

    def create(self, kind: Kind, body: Object, *, dry_run: bool = False) -> Object:
        """Create the object, which must not exist.

        If its namespace or kind does not exist yet, the request is retried for half a minute.

        Raises:
            ExistsError: it exists already.
            ProviderError: the API server rejects the request.
        """
        if dry_run:
            return self._created(kind, body, {"dryRun": "All"})
        for pause in CREATION_PAUSES_SECONDS:
            try:
                return self._created(kind, body, {})
            except (NotThereError, UnknownKindError):
                self.pause(pause)
        return self._created(kind, body, {})

    def apply(
        self, kind: Kind, body: Object, *, manager: str, force: bool, dry_run: bool = False
    ) -> Object:
        """Apply the fields of `body` to the object with `manager` as their owner.

        Raises:
            ProviderError: the API server rejects the request, or another manager owns a field.
        """
        query = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        if dry_run:
            query["dryRun"] = "All"
        path = f"{self._object_path(kind, body['metadata'])}?{urlencode(query)}"
        try:
            return _answer(lambda: self._api.patch(path, body, APPLY))
        except RefusalError as error:
            if error.status != CONFLICT:
                raise
            said = (
                f"server-side apply field conflict detected, see {CONFLICT_HELP} for "
                f'troubleshooting help\nThe resource managed by field manager "{manager}" had an '
                f"apply conflict: {error}"
            )
            raise RefusalError(CONFLICT, said) from error

    def take_over(self, kind: Kind, found: Object, manager: str) -> Object:
        """Transfer the fields that this provider set at creation to `manager`.

        Like the official provider's, the patch has no `resourceVersion`: it must not fail if a
        controller has updated the status since the object was read. `PatchReplaceFieldsManagers` of
        https://github.com/fluxcd/pkg/blob/main/ssa/patch.go
        """
        entries = taken_over(found["metadata"].get("managedFields") or [], manager)
        if entries is None:
            return found
        patch: Any = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
        path = self._object_path(kind, found["metadata"])
        return _answer(lambda: self._api.patch(path, patch, JSON_PATCH))

    def read(self, kind: Kind, metadata: Object) -> Object | None:
        """Return the object; None if it or its kind does not exist."""
        try:
            path = self._object_path(kind, metadata)
            return _answer(lambda: self._api.get(path))
        except (NotThereError, UnknownKindError):
            return None

    def delete(
        self, kind: Kind, metadata: Object, *, deadline_seconds: float, waits: bool = True
    ) -> Object | None:
        """Delete the object after its dependents, and wait until it is deleted.

        Returns:
            None, or the object if it still exists at the deadline.

        Raises:
            ProviderError: the API server rejects the request.
        """
        try:
            path = self._object_path(kind, metadata)
            _answer(lambda: self._api.delete(path, {"propagationPolicy": "Foreground"}))
        except (NotThereError, UnknownKindError):
            return None
        deadline = time.monotonic() + deadline_seconds
        left = self.read(kind, metadata) if waits else None
        while left and left["metadata"].get("deletionTimestamp"):
            if time.monotonic() > deadline:
                return left
            self.pause()
            left = self.read(kind, metadata)
        return None

    def pause(self, seconds: float = POLL_SECONDS) -> None:
        """Sleep.

        Raises:
            ProviderError: the engine cancels.
        """
        if self.stopping.wait(seconds):
            raise ProviderError("cancelled while it was waited for")

    def _created(self, kind: Kind, body: Object, options: dict[str, str]) -> Object:
        query = {"fieldManager": CREATOR, "fieldValidation": "Strict", **options}
        path = f"{self._kind_path(kind, body['metadata'])}?{urlencode(query)}"
        try:
            return _answer(lambda: self._api.post(path, body))
        except RefusalError as error:
            if error.status == CONFLICT and str(error).endswith("already exists"):
                raise ExistsError(CONFLICT, f"{error}\n\n{EXISTS_HELP}") from error
            raise

    def _object_path(self, kind: Kind, metadata: Object) -> str:
        return f"{self._kind_path(kind, metadata)}/{metadata['name']}"

    def _kind_path(self, kind: Kind, metadata: Object) -> str:
        described = self._description(kind)
        if described is None:
            raise UnknownKindError(
                f'no matches for kind "{kind.name}" in version "{kind.api_version}"'
            )
        space = ""
        if described["namespaced"]:
            space = f"/namespaces/{metadata.get('namespace') or DEFAULT_NAMESPACE}"
        return f"{kind.path}{space}/{described['name']}"

    def _description(self, kind: Kind) -> dict[str, Any] | None:
        kinds = self._kinds.get(kind.api_version, {})
        if kind.name not in kinds:
            # A custom resource definition may have been added since.
            kinds = self._kinds[kind.api_version] = self._discovered(kind)
        return kinds.get(kind.name)

    def _discovered(self, kind: Kind) -> dict[str, Any]:
        try:
            resources = _answer(lambda: self._api.get(kind.path))["resources"]
        except NotThereError:
            return {}
        return {entry["kind"]: entry for entry in resources if "/" not in entry["name"]}


def _answer(ask: Callable[[], Object]) -> Object:
    try:
        return ask()
    except ApiError as error:
        kind = NotThereError if error.status == NOT_FOUND else RefusalError
        raise kind(error.status, error.message) from error
    except ApiUnreachableError as error:
        raise UnreachableError(_in_its_words(error)) from error


def _in_its_words(error: ApiUnreachableError) -> str:
    """Return the error in the words of the official provider and its HTTP client."""
    address, _, said = str(error).partition(" does not answer: ")
    if "Connection refused" in said:
        host = address.removeprefix("https://")
        said = f"dial tcp {host}: connect: connection refused"
    return (
        "configured Kubernetes cluster is unreachable: unable to load schema information from the "
        f'API server: Get "{address}/openapi/v2?timeout=32s": {said}'
    )
