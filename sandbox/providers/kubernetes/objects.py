"""Objects in the cluster: created, updated, and awaited as the provider does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.providers._protocol.serve import Log
from trainyard.sandbox.providers._protocol.servicer import ProviderError, UnfinishedError
from trainyard.sandbox.providers._protocol.values import to_struct
from trainyard.sandbox.providers.kubernetes.checkpoint import (
    checkpoint,
    identifier_of,
    importable,
    inputs_in,
    live,
    manager_of,
    metadata_of,
)
from trainyard.sandbox.providers.kubernetes.cluster import (
    FORBIDDEN,
    Cluster,
    ExistsError,
    NotThereError,
    Object,
    RefusalError,
    UnknownKindError,
    UnreachableError,
)
from trainyard.sandbox.providers.kubernetes.differences import pruned
from trainyard.sandbox.providers.kubernetes.kinds import Kind
from trainyard.sandbox.providers.kubernetes.managers import creates_by_update, without_ignored

# Await logic: when the official provider considers an object ready.
#
# Sources: https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg/await
# (`awaiters.go`, `daemonset.go`, `deployment.go`) and, for a DaemonSet,
# https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go


SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_ANNOTATION = "pulumi.com/timeoutSeconds"
WAIT_VARIABLE = "TRAINYARD_WAIT_SECONDS"
"""Environment variable that shortens the wait in the sandbox; docs/faults.md."""
DEFAULT_DEADLINE_SECONDS = 600.0
"""https://www.pulumi.com/registry/packages/kubernetes/api-docs/apps/v1/daemonset/"""
VOLUME_DEADLINE_SECONDS = 300.0
"""Fixed limit for volumes and claims; `untilCoreV1PersistentVolumeClaimReady`."""
TIMED_OUT = "timed out waiting for the condition"
TIMED_OUT_BY_KIND = {
    "Deployment": "'{}' timed out waiting to be Ready",
    "PersistentVolume": "Timeout occurred polling for '{}'",
    "PersistentVolumeClaim": "Timeout occurred polling for '{}'",
}
NOT_LIVE = "Minimum number of live Pods was not attained"
TOO_FEW = "Minimum number of Pods to consider the application live was not attained"
ROLLED_OUT = "NewReplicaSetAvailable"
DELETED_UNAWAITED = frozenset(
    {"DaemonSet", "Deployment", "Job", "Namespace", "Pod", "ReplicationController", "StatefulSet"}
)
"""Kinds for which `skipAwait` also skips the wait for deletion; `allowsSkipAwaitWithDelete`."""


class NotReadyError(Exception):
    """An object is not in the requested state.

    Attributes:
        found: The object as last read.
        reasons: What is missing, as the provider words it.
    """

    def __init__(self, message: str, found: Object, reasons: list[str]) -> None:
        super().__init__(message)
        self.found = found
        self.reasons = reasons


def _seen(found: Object) -> bool:
    """Return whether the object's controller has observed its current generation."""
    return found.get("status", {}).get("observedGeneration", 0) >= found["metadata"]["generation"]


def _daemon_set(found: Object) -> list[str] | None:
    status: dict[str, Any] = found.get("status", {})
    # With 0 pods desired it is complete: a cluster without matching nodes has nothing to roll out.
    wanted = status.get("desiredNumberScheduled", 0)
    counts = ("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady")
    enough = all(status.get(count, 0) >= wanted for count in counts)
    return None if _seen(found) and enough else []


def _deployment(found: Object) -> list[str] | None:
    conditions = {each["type"]: each for each in found.get("status", {}).get("conditions", [])}
    available, progressing = (conditions.get(key, {}) for key in ("Available", "Progressing"))
    lives = available.get("status") == "True"
    rolled_out = progressing.get("status") == "True" and progressing.get("reason") == ROLLED_OUT
    if _seen(found) and lives and rolled_out:
        return None
    said = [
        f"[{condition['reason']}] {condition['message']}"
        for condition in (progressing, available)
        if condition.get("status") == "False"
    ]
    return [*said, TOO_FEW if lives else NOT_LIVE]


def _volume(found: Object) -> list[str] | None:
    return None if found.get("status", {}).get("phase") in {"Available", "Bound"} else []


def _claim(found: Object) -> list[str] | None:
    return None if found.get("status", {}).get("phase") == "Bound" else []


WAITED_FOR: Mapping[str, Callable[[Object], list[str] | None]] = {
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
}
"""By kind: the missing part as the provider words it, or None if the object is ready."""
READ = frozenset({"DaemonSet", "Deployment"})
"""Kinds for which a refresh reports that they are not ready."""


def wait_until_rolled_out(
    cluster: Cluster, kind: Kind, applied: Object, *, deadline_seconds: float
) -> Object:
    """Return the object once it is in the requested state.

    Raises:
        NotReadyError: it is not ready at the deadline.
        ProviderError: the engine cancels, or the API server does not respond.
    """
    missing = WAITED_FOR.get(kind.name)
    if missing is None or skips(applied):
        return applied
    seconds = VOLUME_DEADLINE_SECONDS
    if kind.name in READ:
        seconds = deadline_of(applied, deadline_seconds)
    deadline = time.monotonic() + min(seconds, float(os.environ.get(WAIT_VARIABLE) or seconds))
    last = applied
    while True:
        last = cluster.read(kind, applied["metadata"]) or last
        reasons = missing(last)
        if reasons is None:
            return last
        if time.monotonic() > deadline:
            said = TIMED_OUT_BY_KIND.get(kind.name, TIMED_OUT)
            raise NotReadyError(said.format(applied["metadata"]["name"]), last, reasons)
        cluster.pause()


def check_read(kind: Kind, found: Object, inputs: Object) -> None:
    """Check an object as a refresh does, without a wait.

    Raises:
        NotReadyError: it is not ready.
    """
    if kind.name not in READ or skips(inputs):
        return
    reasons = WAITED_FOR[kind.name](found)
    if reasons is not None:
        name = found["metadata"]["name"]
        raise NotReadyError(
            f"Resource '{name}' was created but failed to initialize", found, reasons
        )


def skips(inputs: Object) -> bool:
    """Return whether a program requests `skipAwait` for the object."""
    return _annotations(inputs).get(SKIP_AWAIT) == "true"


def deadline_of(inputs: Object, asked_seconds: float) -> float:
    """Return the wait time for an object, in seconds."""
    annotated = _annotations(inputs).get(TIMEOUT_ANNOTATION, "")
    return (
        asked_seconds
        or (float(annotated) if annotated.isdecimal() else 0)
        or (DEFAULT_DEADLINE_SECONDS)
    )


def _annotations(value: Object) -> dict[str, Any]:
    return value.get("metadata", {}).get("annotations") or {}


# Lifecycle of the objects of a cluster: create, update, read and delete, with await logic.
#
# Source: https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg: `Create`, `Update`,
# `Read` and `Delete` of `provider/provider.go`, `await/await.go`


FORCE = "pulumi.com/patchForce"


@dataclass(frozen=True, slots=True)
class Settings:
    """The provider's configuration apart from the cluster."""

    upserts: bool = False
    mutable: frozenset[str] = frozenset()
    """Kinds whose content is updated in place."""

    @staticmethod
    def of(given: Mapping[str, Any]) -> Settings:
        """Return the settings in a provider's arguments."""
        on = {key for key, value in given.items() if value in (True, "true")}
        kinds = {"ConfigMap": "enableConfigMapMutable", "Secret": "enableSecretMutable"}
        mutable = frozenset(kind for kind, setting in kinds.items() if setting in on)
        return Settings(upserts="upsertExistingObjects" in on, mutable=mutable)


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a cluster as resources; outputs are those of `checkpoint`."""

    _cluster: Cluster
    _settings: Settings
    _log: Log

    def create(self, kind: Kind, inputs: Object, urn: str, *, deadline_seconds: float) -> Object:
        """Return the outputs of a new object that is ready.

        Raises:
            UnfinishedError: it was created but is not ready at the deadline.
            ProviderError: it was not created.
        """
        state = checkpoint(inputs, inputs, {})
        try:
            made = self._made(kind, inputs, manager_of(state, inputs), dry_run=False)
        except UnreachableError:
            raise
        except UnknownKindError as error:
            raise ProviderError(
                f'creation of resource "{urn}" with kind {kind.api_version}/{kind.name} failed '
                "because the Kubernetes API server reported that the apiVersion for this resource "
                f"does not exist. Verify that any required CRDs have been created: {error}"
            ) from error
        except ProviderError as error:
            raise ProviderError(_not_created(urn, error)) from error
        return self._awaited(
            kind,
            made,
            inputs,
            state,
            f'resource "{urn}" was successfully created, but the Kubernetes API server reported '
            "that it failed to fully initialize or become live: ",
            deadline_seconds,
        )

    def foreseen(self, kind: Kind, inputs: Object, urn: str) -> Object:
        """Return the result of a dry-run create, or the inputs if that is impossible.

        An existing object is not reported, because this update may delete it first.

        Raises:
            ProviderError: the API server would reject it.
        """
        state = checkpoint(inputs, inputs, {})
        try:
            made = self._made(kind, inputs, manager_of(state, inputs), dry_run=True)
        except (ExistsError, NotThereError):
            # This update may create its namespace.
            return inputs
        except RefusalError as error:
            if error.status == FORBIDDEN:
                return inputs
            raise ProviderError(_not_created(urn, error)) from error
        return checkpoint({k: v for k, v in made.items() if k != "status"}, inputs, state)

    def update(
        self,
        kind: Kind,
        inputs: Object,
        state: Object,
        urn: str,
        *,
        ignored: Sequence[str],
        deadline_seconds: float,
    ) -> Object:
        """Return the outputs of an updated object that is ready.

        Raises:
            UnfinishedError: the API server rejects the change, or it is not ready at the deadline.
            ProviderError: the object does not exist.
        """
        found, manager = self._found(kind, inputs, state, urn), manager_of(state, inputs)
        forced = _is_forced(inputs) or not found["metadata"].get("managedFields")
        said = (
            f'the Kubernetes API server reported that "{identifier_of(found)}" failed to fully '
            "initialize or become live: "
        )
        try:
            if not kind.is_patch:
                found = self._cluster.take_over(kind, found, manager)
            wanted = without_ignored(inputs, found, manager, ignored)
            applied = self._cluster.apply(kind, wanted, manager=manager, force=forced)
        except RefusalError as error:
            raise self._refused(kind, found, inputs, state, f"{said}{error}") from error
        return self._awaited(kind, applied, inputs, state, said, deadline_seconds)

    def foreseen_change(self, kind: Kind, inputs: Object, state: Object, urn: str) -> Object:
        """Return the result of a dry-run update, or the inputs if that is impossible.

        Raises:
            UnfinishedError: the API server would reject it.
            ProviderError: the object does not exist.
        """
        found, manager = self._found(kind, inputs, state, urn), manager_of(state, inputs)
        managed = found["metadata"].get("managedFields") or []
        # The update takes over the creator's fields first, so they cause no conflict.
        forced = _is_forced(inputs) or not managed or creates_by_update(managed)
        try:
            applied = self._cluster.apply(kind, inputs, manager=manager, force=forced, dry_run=True)
        except RefusalError as error:
            if error.status == FORBIDDEN:
                return inputs
            said = (
                f'the Kubernetes API server reported that "{identifier_of(found)}" failed to '
                f"fully initialize or become live: {error}"
            )
            raise self._refused(kind, found, inputs, state, said) from error
        return checkpoint(applied, inputs, state)

    def read(
        self, kind: Kind, identifier: str, inputs: Object, state: Object
    ) -> tuple[Object, Object] | None:
        """Return the outputs and inputs of an object; None if it does not exist.

        Args:
            kind: Kind of the object.
            identifier: Its id.
            inputs: The previous inputs; empty for an import.
            state: The previous outputs.

        Raises:
            UnfinishedError: it exists but is not ready.
        """
        found = self._cluster.read(kind, metadata_of(identifier))
        if found is None:
            return None
        known = pruned(found, inputs) if inputs else importable(found)
        outputs = checkpoint(found, known, state)
        try:
            if inputs:
                check_read(kind, found, inputs)
        except NotReadyError as error:
            raise UnfinishedError(
                str(error), identifier, to_struct(outputs), to_struct(known), error.reasons
            ) from error
        return outputs, known

    def delete(
        self, kind: Kind, identifier: str, state: Object, urn: str, *, deadline_seconds: float
    ) -> None:
        """Delete an object and wait until it is deleted; a patch only releases its fields.

        Raises:
            UnfinishedError: it still exists at the deadline.
        """
        metadata, inputs = metadata_of(identifier), inputs_in(state)
        if kind.is_patch:
            nothing = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
            if self._cluster.read(kind, metadata) is not None:
                manager = manager_of(state, nothing)
                self._cluster.apply(kind, nothing, manager=manager, force=False)
            return
        left = self._cluster.delete(
            kind,
            metadata,
            deadline_seconds=deadline_of(inputs, deadline_seconds),
            waits=not (skips(inputs) and kind.name in DELETED_UNAWAITED),
        )
        if left is not None:
            finalizers = ", ".join(left["metadata"].get("finalizers", []))
            self._log("warning", urn, f"finalizers might be preventing deletion ({finalizers})")
            outputs = checkpoint(left, live(state), state)
            raise UnfinishedError(TIMED_OUT, identifier, to_struct(outputs), None)

    def _made(self, kind: Kind, inputs: Object, manager: str, *, dry_run: bool) -> Object:
        if kind.is_patch or self._settings.upserts:
            force = dry_run or _is_forced(inputs)
            return self._cluster.apply(kind, inputs, manager=manager, force=force, dry_run=dry_run)
        return self._cluster.create(kind, inputs, dry_run=dry_run)

    def _found(self, kind: Kind, inputs: Object, state: Object, urn: str) -> Object:
        name = live(state)["metadata"]["name"]
        found = self._cluster.read(kind, {**inputs["metadata"], "name": name})
        if found is None:
            missing = f'{self._cluster.plural(kind)} "{name}" not found'
            raise ProviderError(
                f'update of resource "{urn}" failed: {missing}\n'
                f"unable to get cluster state: {missing}"
            )
        return found

    def _refused(
        self, kind: Kind, found: Object, inputs: Object, state: Object, said: str
    ) -> UnfinishedError:
        """Return the error for a rejected change that left the object unchanged."""
        left = self._cluster.read(kind, found["metadata"]) or found
        outputs = to_struct(checkpoint(left, inputs, state))
        return UnfinishedError(said, identifier_of(left), outputs, None)

    def _awaited(
        self,
        kind: Kind,
        applied: Object,
        inputs: Object,
        state: Object,
        said: str,
        seconds: float,
    ) -> Object:
        try:
            done = wait_until_rolled_out(self._cluster, kind, applied, deadline_seconds=seconds)
        except NotReadyError as error:
            outputs = to_struct(checkpoint(error.found, inputs, state))
            raise UnfinishedError(
                f"{said}{error}", identifier_of(applied), outputs, None, error.reasons
            ) from error
        return checkpoint(done, inputs, state)


def _not_created(urn: str, error: ProviderError) -> str:
    return f'resource "{urn}" was not successfully created by the Kubernetes API server: {error}'


def _is_forced(inputs: Object) -> bool:
    annotations = inputs["metadata"].get("annotations") or {}
    return annotations.get(FORCE) == "true"
