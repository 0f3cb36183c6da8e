"""The provider's calls, and the form in which it compares objects."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any, TypeVar

from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from trainyard.sandbox.latency.pace import as_long_as_aws
from trainyard.sandbox.providers._protocol.serve import Log, unheard
from trainyard.sandbox.providers._protocol.servicer import ProviderError, StandInServicer
from trainyard.sandbox.providers._protocol.values import (
    UNKNOWN,
    from_struct,
    has_unknown,
    name_of,
    to_struct,
    type_of,
)
from trainyard.sandbox.providers.kubernetes.checkpoint import (
    AUTOMATIC_NAME,
    identifier_of,
    inputs_in,
    live,
    random_name,
    with_secrets,
)
from trainyard.sandbox.providers.kubernetes.cluster import (
    DEFAULT_NAMESPACE,
    Cluster,
    Object,
    UnreachableError,
)
from trainyard.sandbox.providers.kubernetes.differences import (
    DELETIONS,
    REPLACEMENTS,
    changes,
    fixed_fields,
    pruned,
)
from trainyard.sandbox.providers.kubernetes.kinds import Kind, kind_of
from trainyard.sandbox.providers.kubernetes.kubeconfig import read_access
from trainyard.sandbox.providers.kubernetes.objects import Objects, Settings

# Inputs in the form in which the API server stores them, so that equal inputs compare as equal.
#
# The official provider converts inputs to the types of `k8s.io/api` and back: `normalizeInputs` of
# https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go


READ_ONLY = frozenset(
    {
        *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation"),
        *("managedFields", "resourceVersion", "uid"),
    }
)
"""Fields of `metadata` that the API server writes; values from the program are dropped."""
QUANTITIES = frozenset({"allocatable", "capacity", "hard", "limits", "requests"})
"""Fields that map resource names to quantities."""
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_UNIT = _DECIMAL.index("")


def normal(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of an object with quantities and Secret data in stored form."""
    found: dict[str, Any] = _with_quantities(inputs)
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        found["metadata"] = {k: v for k, v in metadata.items() if k not in READ_ONLY}
    kind = found.get("kind")
    if kind == "Secret" and found.get("stringData"):
        text = found.pop("stringData")
        found["data"] = {**found.get("data", {}), **{k: _base64(v) for k, v in text.items()}}
    spec = found.get("spec")
    # In the Go type, an empty string is the zero value, which is omitted.
    if kind == "PersistentVolume" and isinstance(spec, dict) and spec.get("storageClassName") == "":
        found["spec"] = {k: v for k, v in spec.items() if k != "storageClassName"}
    return found


def quantity(value: str | float) -> str:
    """Return a quantity in its canonical form: `1024Mi` is `1Gi`, `0.5` is `500m`.

    Other values are returned unchanged; the API server rejects them.
    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    text = str(value)
    for power, suffix in enumerate(_BINARY):
        if suffix and text.endswith(suffix):
            amount = _number(text.removesuffix(suffix))
            return text if amount is None else _binary(amount * 1024**power)
    for power, suffix in enumerate(_DECIMAL):
        if suffix and text.endswith(suffix):
            amount = _number(text.removesuffix(suffix))
            return text if amount is None else _decimal(amount.scaleb(3 * (power - _UNIT)))
    amount = _number(text)
    return text if amount is None else _decimal(amount)


def _with_quantities(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key in QUANTITIES and all(isinstance(v, str | int | float) for v in value.values()):
            return {name: quantity(amount) for name, amount in value.items()}
        return {name: _with_quantities(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_quantities(item) for item in value]
    return value


def _number(text: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _binary(amount: Decimal) -> str:
    if amount != amount.to_integral_value() or abs(amount) < 1024:
        return _decimal(amount)
    power, whole = 0, int(amount)
    while power + 1 < len(_BINARY) and whole % 1024 == 0:
        power, whole = power + 1, whole // 1024
    return f"{whole}{_BINARY[power]}"


def _decimal(amount: Decimal) -> str:
    nano = int(amount.scaleb(9).to_integral_value(ROUND_CEILING))
    power = 0
    while nano and power + 1 < len(_DECIMAL) and nano % 1000 == 0:
        power, nano = power + 1, nano // 1000
    return f"{nano}{_DECIMAL[power]}" if nano else "0"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# The provider protocol for the objects of a cluster.
#
# Source: https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go


VERSION = "4.34.2"
CONFIGURATION = frozenset(
    {
        *("enableConfigMapMutable", "enableSecretMutable", "enableServerSideApply"),
        *("kubeconfig", "suppressDeprecationWarnings", "upsertExistingObjects", "version"),
    }
)
DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"
"""Environment variable that makes an unreachable cluster count as deleted, with its objects."""
_REMOVE = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the "
    f'operation with the {DELETE_UNREACHABLE} environment variable set to "true"'
)
_CANNOT_READ = f"failed to read resource state due to unreachable cluster. {_REMOVE}"
_CANNOT_DELETE = f"configured Kubernetes cluster is unreachable. {_REMOVE}"
_GIVEN_UP = (
    "configured Kubernetes cluster is unreachable and the `deleteUnreachable` option is enabled. "
    "Deleting the unreachable resource from Pulumi state"
)

Answer = TypeVar("Answer")


class KubernetesServicer(StandInServicer):
    """Serves the engine's calls for the objects of a cluster."""

    package = "kubernetes"
    version = VERSION
    configuration = CONFIGURATION

    def __init__(self, log: Log = unheard) -> None:
        """Create a provider without a cluster; `Configure` sets it."""
        self.cluster: Cluster | None = None
        self._log = log
        self._settings = Settings()

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Replace the provider, and therefore its objects, if the API server changes."""
        olds, news = from_struct(request.old_inputs), from_struct(request.news)
        changed = sorted(k for k in {*olds, *news} if olds.get(k) != news.get(k))
        # While the server is unknown in a preview, so is whether it changes.
        known = news.get("kubeconfig") != UNKNOWN
        moved = known and "kubeconfig" in changed and _server(olds) != _server(news)
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some if changed else none,
            diffs=changed,
            replaces=["kubeconfig"] if moved else [],
        )

    def Configure(self, request: Any, context: Any) -> Any:
        """Connect to the cluster of the kubeconfig, unless it is still unknown in a preview."""
        given = from_struct(request.args)
        kubeconfig = given.get("kubeconfig")
        self._settings = Settings.of(given)

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
        """Cancel all waits."""
        if self.cluster is not None:
            self.cluster.stopping.set()
        return empty_pb2.Empty()

    def Check(self, request: Any, context: Any) -> Any:
        """Complete and normalize the inputs: API version, kind, namespace and name."""
        news, olds = from_struct(request.news), from_struct(request.olds)
        inputs = self.guarded(context, "", lambda: self._checked(request.urn, news, olds))
        return provider_pb2.CheckResponse(inputs=to_struct(with_secrets(inputs)))

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare the requested fields of the object in the state with the new inputs."""
        state, news = from_struct(request.olds), from_struct(request.news)
        kind, old = kind_of(type_of(request.urn)), live(state)
        identity = {"apiVersion": kind.api_version, "kind": kind.name}
        before = {**identity, **pruned(old, inputs_in(state))}
        before["metadata"] = {**before.get("metadata", {}), "name": old["metadata"]["name"]}
        before, after = (self._in_a_namespace(kind, each) for each in (before, news))
        found = changes(before, after, fixed_fields(kind, news, self._settings.mutable))
        replaces = [path for path, how in found.items() if how in REPLACEMENTS]
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some if found else none,
            replaces=replaces,
            deleteBeforeReplace=bool(replaces)
            and not _is_named_by_us(after)
            and identifier_of(before) == identifier_of(after),
            hasDetailedDiff=True,
            detailedDiff={
                path: provider_pb2.PropertyDiff(kind=how, inputDiff=how in DELETIONS)
                for path, how in found.items()
            },
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Create the object, which must not exist; a patch is applied to the existing object."""
        inputs, kind = from_struct(request.properties), kind_of(type_of(request.urn))
        if request.preview and (has_unknown(inputs) or kind.is_patch or not self._has(kind)):
            return provider_pb2.CreateResponse(properties=request.properties)

        def create() -> Object:
            if request.preview:
                return self._objects().foreseen(kind, inputs, request.urn)
            with as_long_as_aws(type_of(request.urn), inputs, "create"):
                return self._objects().create(
                    kind, inputs, request.urn, deadline_seconds=request.timeout
                )

        outputs = self.guarded(context, "", create)
        identifier = "" if request.preview else identifier_of(outputs)
        return provider_pb2.CreateResponse(id=identifier, properties=to_struct(outputs))

    def Update(self, request: Any, context: Any) -> Any:
        """Apply the object again; fields that are no longer in the inputs are removed."""
        state, inputs = from_struct(request.olds), from_struct(request.news)
        kind = kind_of(type_of(request.urn))
        if request.preview and (has_unknown(inputs) or not self._has(kind)):
            return provider_pb2.UpdateResponse(properties=request.news)

        def update() -> Object:
            if request.preview:
                return self._objects().foreseen_change(kind, inputs, state, request.urn)
            with as_long_as_aws(type_of(request.urn), inputs, "update"):
                return self._objects().update(
                    kind,
                    inputs,
                    state,
                    request.urn,
                    ignored=request.ignoreChanges,
                    deadline_seconds=request.timeout,
                )

        outputs = self.guarded(context, "", update)
        return provider_pb2.UpdateResponse(properties=to_struct(outputs))

    def Read(self, request: Any, context: Any) -> Any:
        """Read the object for a refresh or an import."""
        kind = kind_of(type_of(request.urn))
        state, known = from_struct(request.properties), from_struct(request.inputs)
        found = self.guarded(
            context,
            "",
            lambda: self._unless_unreachable(
                request.urn,
                _CANNOT_READ,
                lambda: self._objects().read(kind, request.id, known, state),
            ),
        )
        if found is None:
            return provider_pb2.ReadResponse()
        outputs, inputs = found
        return provider_pb2.ReadResponse(
            id=request.id, properties=to_struct(outputs), inputs=to_struct(with_secrets(inputs))
        )

    def Delete(self, request: Any, context: Any) -> Any:
        """Delete the object and wait until it is deleted; a patch only releases its fields."""
        kind, state = kind_of(type_of(request.urn)), from_struct(request.properties)

        def delete() -> None:
            with as_long_as_aws(type_of(request.urn), live(state), "delete"):
                self._objects().delete(
                    kind, request.id, state, request.urn, deadline_seconds=request.timeout
                )

        self.guarded(
            context,
            "",
            lambda: self._unless_unreachable(request.urn, _CANNOT_DELETE, delete),
        )
        return empty_pb2.Empty()

    def _checked(self, urn: str, news: Object, olds: Object) -> Object:
        kind = kind_of(type_of(urn))
        metadata = {**(news.get("metadata") or {})}
        if kind.is_patch and not metadata.get("name"):
            raise ProviderError("patch resources require the `.metadata.name` field to be set")
        if not metadata.get("name"):
            old = olds["metadata"]["name"] if _is_named_by_us(olds) else ""
            metadata["name"] = old or f"{name_of(urn)}-{random_name()}"
            annotations = metadata.get("annotations") or {}
            metadata["annotations"] = {**annotations, AUTOMATIC_NAME: "true"}
        identity = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
        inputs = self._in_a_namespace(kind, {**news, **identity})
        return inputs if has_unknown(inputs) else normal(inputs)

    def _in_a_namespace(self, kind: Kind, value: Object) -> Object:
        metadata = value["metadata"]
        if metadata.get("namespace") or not self._is_namespaced(kind):
            return value
        return {**value, "metadata": {**metadata, "namespace": DEFAULT_NAMESPACE}}

    def _is_namespaced(self, kind: Kind) -> bool:
        try:
            return self.cluster is not None and self.cluster.is_namespaced(kind)
        except UnreachableError:
            return False

    def _has(self, kind: Kind) -> bool:
        try:
            return self.cluster is not None and self.cluster.has(kind)
        except UnreachableError:
            return False

    def _objects(self) -> Objects:
        if self.cluster is None:
            raise ProviderError("the provider was not configured with a kubeconfig")
        return Objects(self.cluster, self._settings, self._log)

    def _unless_unreachable(self, urn: str, cannot: str, do: Callable[[], Answer]) -> Answer | None:
        try:
            return do()
        except UnreachableError as error:
            self._log("warning", urn, str(error))
            if os.environ.get(DELETE_UNREACHABLE) != "true":
                raise ProviderError(cannot) from error
            self._log("info", urn, _GIVEN_UP)
            return None


def _is_named_by_us(inputs: Object) -> bool:
    annotations = (inputs.get("metadata") or {}).get("annotations") or {}
    return annotations.get(AUTOMATIC_NAME) == "true"


def _server(settings: dict[str, Any]) -> str | None:
    try:
        return read_access(settings.get("kubeconfig") or "").server
    except ProviderError:
        return None
