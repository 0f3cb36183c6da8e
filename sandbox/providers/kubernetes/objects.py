"""Lifecycle of the objects of a cluster: create, update, read and delete, with await logic.

Source: https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg: `Create`, `Update`,
`Read` and `Delete` of `provider/provider.go`, `await/await.go`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from trainyard.sandbox.providers.kubernetes.rollout import (
    DELETED_UNAWAITED,
    TIMED_OUT,
    NotReadyError,
    check_read,
    deadline_of,
    skips,
    wait_until_rolled_out,
)

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
