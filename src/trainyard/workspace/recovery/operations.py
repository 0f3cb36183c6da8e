"""Pending operations in the state, and the state after their recovery.

The exported state is edited with one export and one import. Pulumi's own flags cannot do this.
`refresh --import-pending-creates` (3.259) only changes the pending operation to `importing`; the
engine does not read that entry, and the next write of the state drops it with the object
(`pkg/cmd/pulumi/operations/refresh.go`, `pendingCreatesToImports`; `pkg/backend/snapshot.go`, which
carries only creates from one state to the next). `stack import` clears all pending operations
(`pkg/cmd/pulumi/stack/io.go`, `SaveSnapshot`), so their content must be in the resources by then:
an object that was found becomes a resource, and every object with a pending operation is read
again.

To have it read, a resource gets `refreshBeforeUpdate`. The engine then reads it before it compares
(`pkg/resource/deploy/deployment_executor.go`, `Execute`), as part of the next run. The flag is
removed when the provider has responded (`pkg/resource/deploy/step.go`, `RefreshStep.Apply`). The
flag is in the state, so it survives a second kill.

Objects that no longer exist leave the state, and their dependents lose that dependency, because the
engine rejects a state that refers to a missing resource (`pkg/resource/deploy/snapshot.go`,
`VerifyIntegrity`). The next update registers all dependencies again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trainyard.workspace.exported_state import Deployment, content_of, resources_of
from trainyard.workspace.urns import name_of, project_of, stack_of, type_of

CREATING, UPDATING, DELETING = "creating", "updating", "deleting"

_SCHEMA_VERSIONS: Mapping[str, int] = {
    "aws:amp/scraper:Scraper": 0,
    "aws:batch/jobQueue:JobQueue": 2,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": 0,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": 0,
}
"""Schema versions of the types that the AWS provider implements on Terraform's plugin framework.

The provider reads these by the `id` in their outputs, not by the id of the resource. It treats
outputs without a version as version 0 and upgrades them, which fails with "Value Conversion Error"
for a job queue and with "Missing Resource Identity After Read" for a rule.
Sources: pulumi-terraform-bridge `pkg/pf/tfbridge/resource_state.go` (`parseSchemaVersion`),
terraform-provider-aws 6.34 `internal/service/amp/scraper.go`,
`internal/service/batch/job_queue.go` and `internal/service/ec2/vpc_security_group_ingress_rule.go`
(`schema.Schema.Version`, `Read`).
"""


@dataclass(frozen=True, slots=True)
class PendingCreate:
    """A create that was started."""

    urn: str
    inputs: Mapping[str, Any] = field(hash=False)
    """Inputs after the provider's check, including physical names, also auto-generated ones."""
    custom: bool = True
    """Whether a provider creates an object for it; a component exists only in the state."""
    known_ids: frozenset[str] = frozenset()
    """Ids under the same URN in the state: a replaced object stays until the end."""

    @property
    def stack(self) -> str:
        """Name of the stack."""
        return stack_of(self.urn)

    @property
    def project(self) -> str:
        """Name of the project."""
        return project_of(self.urn)

    @property
    def type_token(self) -> str:
        """Type token of the resource."""
        return type_of(self.urn)

    @property
    def name(self) -> str:
        """Logical name."""
        return name_of(self.urn)


@dataclass(frozen=True, slots=True)
class TakenUp:
    """An existing object for a pending create."""

    urn: str
    identifier: str
    replace: bool = False
    """Whether its creation failed, so that the next `up` replaces it."""


def pending_creates(deployment: Deployment) -> list[PendingCreate]:
    """Return the pending creates, without duplicates."""
    found: dict[str, PendingCreate] = {}
    for operation in _operations(deployment, CREATING):
        resource = operation["resource"]
        urn = resource["urn"]
        ids = {r["id"] for r in resources_of(deployment) if r["urn"] == urn and r.get("id")}
        custom, inputs = bool(resource.get("custom")), resource.get("inputs") or {}
        found[urn] = PendingCreate(urn, inputs, custom, frozenset(ids))
    return list(found.values())


def changes_begun(deployment: Deployment) -> list[str]:
    """Return the URNs of pending updates and deletions."""
    begun = [*_operations(deployment, UPDATING), *_operations(deployment, DELETING)]
    return list(dict.fromkeys(operation["resource"]["urn"] for operation in begun))


def deletions_begun(deployment: Deployment) -> list[tuple[str, str]]:
    """Return URN and id of each pending deletion."""
    found = [operation["resource"] for operation in _operations(deployment, DELETING)]
    return [(each["urn"], each["id"]) for each in found if each.get("id")]


def updates_begun(deployment: Deployment) -> list[PendingCreate]:
    """Return the pending updates, with the new inputs."""
    found = [operation["resource"] for operation in _operations(deployment, UPDATING)]
    return [PendingCreate(each["urn"], each.get("inputs") or {}) for each in found]


def is_pending(deployment: Deployment) -> bool:
    """Return whether any operation is pending."""
    return bool(content_of(deployment).get("pending_operations"))


def written_at(deployment: Deployment) -> datetime | None:
    """Return when the state was last written; None if unknown."""
    time = (content_of(deployment).get("manifest") or {}).get("time")
    try:
        return datetime.fromisoformat(time) if time else None
    except ValueError:
        return None


def taken_up(
    deployment: Deployment,
    objects: Collection[TakenUp],
    gone: Collection[tuple[str, str]] = (),
) -> Deployment:
    """Return the exported state with the objects in it and no pending operations.

    Args:
        deployment: The exported state.
        objects: The existing objects of pending creates.
        gone: URN and id of each completed deletion.
    """
    edited = copy.deepcopy(deployment)
    inner = edited["deployment"]
    operations = inner.pop("pending_operations", None) or []
    resources: list[dict[str, Any]] = inner.get("resources") or []
    begun = {*changes_begun(deployment)}
    resources = _without(resources, gone)
    for resource in resources:
        if resource["urn"] in begun and _is_read(resource):
            resource["refreshBeforeUpdate"] = True
    pending = {o["resource"]["urn"]: o["resource"] for o in operations if o["type"] == CREATING}
    for each in objects:
        resources = _with(resources, pending[each.urn], each)
    inner["resources"] = resources
    return edited


def _without(
    resources: list[dict[str, Any]], gone: Collection[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Return the remaining resources, without dependencies on deleted ones."""
    kept = [each for each in resources if (each["urn"], each.get("id")) not in gone]
    # A resource whose deletion is pending after a replacement has the URN of its successor.
    lost = {urn for urn, _ in gone} - {each["urn"] for each in kept}
    for each in kept:
        for key in ("dependencies", "replaceWith"):
            if each.get(key):
                each[key] = [urn for urn in each[key] if urn not in lost]
        by_property = each.get("propertyDependencies") or {}
        for name, urns in by_property.items():
            by_property[name] = [urn for urn in urns or () if urn not in lost]
        if each.get("deletedWith") in lost:
            del each["deletedWith"]
    return kept


def _with(
    resources: list[dict[str, Any]], created: Mapping[str, Any], found: TakenUp
) -> list[dict[str, Any]]:
    kept = [r for r in resources if not (r["urn"] == found.urn and r.get("pendingReplacement"))]
    for resource in kept:
        # The engine marks a replaced resource like this once its successor exists.
        if resource["urn"] == found.urn:
            resource["delete"] = True
    made = {
        **created,
        "id": found.identifier,
        # Without properties, the provider treats the read as a manual import, which uses ids in
        # another form. The inputs are sufficient for the read.
        # https://github.com/pulumi/pulumi-terraform-bridge/blob/main/pkg/tfbridge/provider.go, Read
        "outputs": read_by(created["type"], created.get("inputs") or {}, found.identifier),
        "refreshBeforeUpdate": True,
    }
    if found.replace:
        # An object whose creation failed holds nothing to protect; its replacement deletes it.
        made |= {"taint": True, "protect": False, "retainOnDelete": False}
    return [*kept, made]


def read_by(type_: str, inputs: Mapping[str, Any], identifier: str) -> dict[str, Any]:
    """Return the outputs by which the provider reads an object whose create got no response."""
    outputs = _without_marks(inputs)
    version = _SCHEMA_VERSIONS.get(type_)
    if version is None:
        return outputs
    meta = json.dumps({"schema_version": str(version)})
    return {**outputs, "id": identifier, "__meta": meta}


def _is_read(resource: Mapping[str, Any]) -> bool:
    return bool(resource.get("custom")) and not resource["type"].startswith("pulumi:providers:")


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_marks(each) for k, each in value.items() if k != "__defaults"}
    return [_without_marks(each) for each in value] if isinstance(value, list) else value


def _operations(deployment: Deployment, kind: str) -> list[dict[str, Any]]:
    operations = content_of(deployment).get("pending_operations") or []
    return [operation for operation in operations if operation.get("type") == kind]
