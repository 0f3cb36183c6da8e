"""The provider protocol over the objects of a cluster."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from sandbox.latency.model import Operation
from sandbox.latency.pace import as_long_as_aws
from sandbox.providers._protocol.servicer import ProviderError, StandInServicer, UnfinishedError
from sandbox.providers._protocol.values import (
    UNKNOWN,
    from_struct,
    has_unknown,
    name_of,
    secret,
    to_struct,
    type_of,
)
from sandbox.providers.kubernetes.cluster import Cluster, NotThereError, Object, UnreachableError
from sandbox.providers.kubernetes.differences import as_found, changed_paths, replacing
from sandbox.providers.kubernetes.kinds import Kind, kind_of
from sandbox.providers.kubernetes.kubeconfig import read_access
from sandbox.providers.kubernetes.rollout import DEFAULT_DEADLINE_SECONDS, wait_until_rolled_out

VERSION = "4.34.2"
CONFIGURATION = frozenset(
    {"enableServerSideApply", "kubeconfig", "suppressDeprecationWarnings", "version"}
)
FORCE = "pulumi.com/patchForce"
AUTOMATIC_NAME = "pulumi.com/autonamed"
MANAGER = "__fieldManager"
RANDOM_BYTES = 4
UPDATE = provider_pb2.PropertyDiff.Kind.UPDATE
DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"
"""Environment variable with which an unreachable cluster counts as deleted, with its objects."""
_CANNOT_READ = "failed to read resource state due to unreachable cluster"
_CANNOT_DELETE = "configured Kubernetes cluster is unreachable"
"""What the provider cannot do then, in the words of its `Read` and `Delete`:
https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go"""
REPLACE = provider_pb2.PropertyDiff.Kind.UPDATE_REPLACE


class KubernetesServicer(StandInServicer):
    """Answers the engine for the objects of one cluster."""

    package = "kubernetes"
    version = VERSION
    configuration = CONFIGURATION

    def __init__(self) -> None:
        """Know no cluster yet; it comes with `Configure`."""
        self.cluster: Cluster | None = None

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Replace the provider, and so its objects, when it points to another API server."""
        olds, news = from_struct(request.old_inputs), from_struct(request.news)
        changed = sorted(k for k in {*olds, *news} if olds.get(k) != news.get(k))
        # A preview that does not know the server yet does not know either whether it is another.
        known = news.get("kubeconfig") != UNKNOWN
        moved = known and "kubeconfig" in changed and _server(olds) != _server(news)
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some if changed else none,
            diffs=changed,
            replaces=["kubeconfig"] if moved else [],
        )

    def Configure(self, request: Any, context: Any) -> Any:
        """Connect to the cluster of the kubeconfig, unless the preview does not know it yet."""
        kubeconfig = from_struct(request.args).get("kubeconfig")

        def connect() -> None:
            if kubeconfig == UNKNOWN:
                return
            if not kubeconfig:
                raise ProviderError(
                    "it needs kubeconfig: the sandbox's clusters are no defaults of this machine"
                )
            self.cluster = Cluster(read_access(kubeconfig))

        self.guarded(context, "kubernetes provider", connect)
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    def Cancel(self, request: Any, context: Any) -> Any:
        """End what waits."""
        if self.cluster is not None:
            self.cluster.stopping.set()
        return empty_pb2.Empty()

    def Check(self, request: Any, context: Any) -> Any:
        """Write the API version, the kind and a name into the inputs."""
        news, olds = from_struct(request.news), from_struct(request.olds)
        kind = self.guarded(context, name_of(request.urn), lambda: kind_of(type_of(request.urn)))
        inputs = {**news, "apiVersion": kind.api_version, "kind": kind.name}
        metadata = news.get("metadata", {})
        if isinstance(metadata, dict) and not metadata.get("name"):
            if kind.is_patch:
                reason = "a patch needs the name of the object that it is for"
                failure = provider_pb2.CheckFailure(property="metadata.name", reason=reason)
                return provider_pb2.CheckResponse(inputs=request.news, failures=[failure])
            inputs["metadata"] = _named(metadata, olds, request)
        return provider_pb2.CheckResponse(inputs=to_struct(inputs))

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare the inputs that were with those that are wanted."""
        olds, news = from_struct(request.old_inputs), from_struct(request.news)
        kind = kind_of(type_of(request.urn))
        changed = list(changed_paths(olds, news))
        replaces = replacing(kind, news, changed)
        annotations = news.get("metadata", {}).get("annotations") or {}
        moved = {"metadata.name", "metadata.namespace"}.intersection(changed)
        same_name = not moved and AUTOMATIC_NAME not in annotations
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some if changed else none,
            diffs=sorted({path.partition(".")[0] for path in changed}),
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and same_name,
            hasDetailedDiff=True,
            detailedDiff={
                path: provider_pb2.PropertyDiff(kind=REPLACE if path in replaces else UPDATE)
                for path in changed
            },
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Apply the object; one that exists gets our fields, as server-side apply does."""
        inputs, manager = from_struct(request.properties), f"pulumi-kubernetes-{_random()}"
        outputs = self._applied(context, request, inputs, manager, "create")
        identifier = "" if request.preview else _identifier(outputs)
        return provider_pb2.CreateResponse(id=identifier, properties=to_struct(outputs))

    def Update(self, request: Any, context: Any) -> Any:
        """Apply the object anew; fields that are no longer asked for go."""
        manager = from_struct(request.olds).get(MANAGER) or f"pulumi-kubernetes-{_random()}"
        outputs = self._applied(context, request, from_struct(request.news), manager, "update")
        return provider_pb2.UpdateResponse(properties=to_struct(outputs))

    def Read(self, request: Any, context: Any) -> Any:
        """Read the object as it is, for a refresh or an import."""
        kind, metadata = kind_of(type_of(request.urn)), _metadata(request.id)
        found = self.guarded(
            context,
            name_of(request.urn),
            lambda: _unless_unreachable(
                _CANNOT_READ, lambda: self._connected().read(kind, metadata)
            ),
        )
        if found is None:
            return provider_pb2.ReadResponse()
        known, manager = from_struct(request.inputs), from_struct(request.properties).get(MANAGER)
        inputs = as_found(known, found) if known else _importable(found)
        outputs = _outputs(kind, found, manager or f"pulumi-kubernetes-{_random()}")
        return provider_pb2.ReadResponse(
            id=request.id, properties=to_struct(outputs), inputs=to_struct(inputs)
        )

    def Delete(self, request: Any, context: Any) -> Any:
        """Delete the object and wait until it is gone; a patch only gives its fields up."""
        kind, metadata = kind_of(type_of(request.urn)), _metadata(request.id)
        known = from_struct(request.properties)
        manager = known.get(MANAGER)
        seconds = request.timeout or DEFAULT_DEADLINE_SECONDS

        def delete() -> None:
            cluster = self._connected()
            if not kind.is_patch:
                with as_long_as_aws(type_of(request.urn), known, "delete"):
                    cluster.delete(kind, metadata, deadline_seconds=seconds)
            elif manager and cluster.read(kind, metadata) is not None:
                nothing = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
                cluster.apply(kind, nothing, manager=manager, force=True)

        self.guarded(
            context, name_of(request.urn), lambda: _unless_unreachable(_CANNOT_DELETE, delete)
        )
        return empty_pb2.Empty()

    def _applied(
        self, context: Any, request: Any, inputs: Object, manager: str, operation: Operation
    ) -> Object:
        kind = kind_of(type_of(request.urn))
        if request.preview and (self.cluster is None or has_unknown(inputs)):
            return inputs

        def apply() -> Object:
            cluster = self._connected()
            annotations = inputs["metadata"].get("annotations") or {}
            force = annotations.get(FORCE) == "true"
            try:
                applied = cluster.apply(
                    kind, inputs, manager=manager, force=force, dry_run=request.preview
                )
            except NotThereError:
                # Its namespace may be one of those that this update makes.
                if request.preview:
                    return inputs
                raise
            if request.preview:
                return _foreseen(applied)
            seconds = request.timeout
            try:
                done = wait_until_rolled_out(cluster, kind, applied, deadline_seconds=seconds)
            except ProviderError as error:
                outputs = to_struct(_outputs(kind, applied, manager))
                raise UnfinishedError(
                    str(error), _identifier(applied), outputs, to_struct(inputs)
                ) from error
            return _outputs(kind, done, manager)

        def apply_in_time() -> Object:
            with as_long_as_aws(type_of(request.urn), inputs, operation):
                return apply()

        do = apply if request.preview else apply_in_time
        return self.guarded(context, name_of(request.urn), do)

    def _connected(self) -> Cluster:
        if self.cluster is None:
            raise ProviderError("the provider was not configured with a kubeconfig")
        return self.cluster


def _unless_unreachable(cannot: str, do: Callable[[], Object | None]) -> Object | None:
    try:
        return do()
    except UnreachableError as error:
        if os.environ.get(DELETE_UNREACHABLE) == "true":
            return None
        raise ProviderError(
            f"{cannot}. If the cluster was deleted, you can remove this resource from Pulumi state "
            f"by rerunning the operation with the {DELETE_UNREACHABLE} environment variable set "
            'to "true"'
        ) from error


def _server(settings: dict[str, Any]) -> str | None:
    try:
        return read_access(settings.get("kubeconfig") or "").server
    except ProviderError:
        return None


def _named(metadata: Object, olds: Object, request: Any) -> Object:
    old = olds.get("metadata", {}).get("name")
    name = old or f"{name_of(request.urn)}-{_random()}"
    annotations = {**(metadata.get("annotations") or {}), AUTOMATIC_NAME: "true"}
    return {**metadata, "name": name, "annotations": annotations}


def _random() -> str:
    return secrets.token_hex(RANDOM_BYTES)


def _identifier(found: Object) -> str:
    metadata = found["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _metadata(identifier: str) -> Object:
    namespace, _, name = identifier.rpartition("/")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _outputs(kind: Kind, found: Object, manager: str) -> Object:
    metadata = {k: v for k, v in found["metadata"].items() if k != "managedFields"}
    outputs = {**found, "metadata": metadata, MANAGER: manager}
    if kind.name == "Secret":
        outputs |= {k: secret(found[k]) for k in ("data", "stringData") if k in found}
    return outputs


def _foreseen(applied: Object) -> Object:
    """Return a dry run's answer without what the API server made up for it."""
    made_up = dict.fromkeys(("creationTimestamp", "generation", "resourceVersion", "uid"), UNKNOWN)
    metadata = {k: v for k, v in applied["metadata"].items() if k != "managedFields"}
    rest = {k: v for k, v in applied.items() if k not in {"metadata", "status"}}
    return {**rest, "metadata": {**metadata, **made_up}}


def _importable(found: Object) -> Object:
    metadata = {
        k: v
        for k, v in found["metadata"].items()
        if k in {"annotations", "labels", "name", "namespace"}
    }
    return {k: v for k, v in found.items() if k != "status"} | {"metadata": metadata}
