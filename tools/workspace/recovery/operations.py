"""What the state says of unfinished work, and the state with that work taken up.

The exported state is edited: one export, one import. Pulumi's own flags cannot do it.
`refresh --import-pending-creates` (3.259) only renames the pending operation to `importing`;
nothing in the engine reads that again, and the next write of the state drops it with the object
(`pkg/cmd/pulumi/operations/refresh.go`, `pendingCreatesToImports`; `pkg/backend/snapshot.go`,
which carries creates only from one state to the next). `stack import` clears every pending
operation (`pkg/cmd/pulumi/stack/io.go`, `SaveSnapshot`), so what they say is in the resources by
then: an object that was found becomes a resource, and whatever was begun is read anew.

For that a resource has `refreshBeforeUpdate`, with which the engine reads it before it compares
(`pkg/resource/deploy/deployment_executor.go`, `Execute`), in the run that follows and without one
of its own; the flag goes when the provider has answered (`pkg/resource/deploy/step.go`,
`RefreshStep.Apply`). It stands in the state, so a second kill before that loses nothing.

What is known to be gone leaves the state, and what depended on it loses that dependency: the engine
takes no state that names a resource which is not in it (`pkg/resource/deploy/snapshot.go`,
`VerifyIntegrity`). The next update registers all dependencies anew.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tools.workspace.exported_state import Deployment, content_of, resources_of
from tools.workspace.urns import name_of, project_of, stack_of, type_of

CREATING, UPDATING, DELETING = "creating", "updating", "deleting"

_SCHEMA_VERSIONS: Mapping[str, int] = {
    "aws:batch/jobQueue:JobQueue": 2,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": 0,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": 0,
}
"""Versions of the schemas of the types that the AWS provider has on Terraform's plugin framework.

These are read by the `id` among their outputs, not by the id of the resource, and outputs without
a version are taken for ones of version 0 and upgraded, which ends in "Value Conversion Error" for
a job queue and in "Missing Resource Identity After Read" for a rule.
Sources: pulumi-terraform-bridge `pkg/pf/tfbridge/resource_state.go` (`parseSchemaVersion`),
terraform-provider-aws 6.34 `internal/service/batch/job_queue.go` and
`internal/service/ec2/vpc_security_group_ingress_rule.go` (`schema.Schema.Version`, `Read`).
"""


@dataclass(frozen=True, slots=True)
class PendingCreate:
    """One create that was begun."""

    urn: str
    inputs: Mapping[str, Any] = field(hash=False)
    """As the provider checked them: physical names are among them, also automatic ones."""
    custom: bool = True
    """Whether a provider makes something for it; a component is in the state alone."""
    known_ids: frozenset[str] = frozenset()
    """Ids that the state has under the same URN: what is replaced stays until the end."""

    @property
    def stack(self) -> str:
        """The stack's name."""
        return stack_of(self.urn)

    @property
    def project(self) -> str:
        """The project's name."""
        return project_of(self.urn)

    @property
    def type_token(self) -> str:
        """The resource's own type."""
        return type_of(self.urn)

    @property
    def name(self) -> str:
        """The logical name."""
        return name_of(self.urn)


@dataclass(frozen=True, slots=True)
class TakenUp:
    """An object that exists, for a create that the state does not know the end of."""

    urn: str
    identifier: str
    replace: bool = False
    """Whether it failed for good, so that the next `up` makes another in its place."""


def pending_creates(deployment: Deployment) -> list[PendingCreate]:
    """Return the creates that were begun, each once."""
    found: dict[str, PendingCreate] = {}
    for operation in _operations(deployment, CREATING):
        resource = operation["resource"]
        urn = resource["urn"]
        ids = {r["id"] for r in resources_of(deployment) if r["urn"] == urn and r.get("id")}
        custom, inputs = bool(resource.get("custom")), resource.get("inputs") or {}
        found[urn] = PendingCreate(urn, inputs, custom, frozenset(ids))
    return list(found.values())


def changes_begun(deployment: Deployment) -> list[str]:
    """Return the URNs of updates and deletions that were begun."""
    begun = [*_operations(deployment, UPDATING), *_operations(deployment, DELETING)]
    return list(dict.fromkeys(operation["resource"]["urn"] for operation in begun))


def deletions_begun(deployment: Deployment) -> list[tuple[str, str]]:
    """Return URN and id of what was being deleted."""
    found = [operation["resource"] for operation in _operations(deployment, DELETING)]
    return [(each["urn"], each["id"]) for each in found if each.get("id")]


def updates_begun(deployment: Deployment) -> list[PendingCreate]:
    """Return the updates that were begun, with the inputs that the objects were to have."""
    found = [operation["resource"] for operation in _operations(deployment, UPDATING)]
    return [PendingCreate(each["urn"], each.get("inputs") or {}) for each in found]


def is_pending(deployment: Deployment) -> bool:
    """Return whether anything was begun and not finished."""
    return bool(content_of(deployment).get("pending_operations"))


def written_at(deployment: Deployment) -> datetime | None:
    """Return when the state was last written; None where it does not say."""
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
    """Return the exported state with the objects in it and nothing pending.

    Args:
        deployment: The exported state.
        objects: What exists of the creates that were begun.
        gone: URN and id of what no longer exists of the deletions that were begun.
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
    """Return the resources that are not gone, without dependencies on what is."""
    kept = [each for each in resources if (each["urn"], each.get("id")) not in gone]
    # What is to be deleted after its replacement has the URN of its successor.
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
        # As the engine marks what a replacement was made for, once that exists.
        if resource["urn"] == found.urn:
            resource["delete"] = True
    made = {
        **created,
        "id": found.identifier,
        # A provider that is given no properties takes the read for an import by hand, and asks for
        # ids in another form; the inputs are what it would read by.
        # https://github.com/pulumi/pulumi-terraform-bridge/blob/main/pkg/tfbridge/provider.go, Read
        "outputs": read_by(created["type"], created.get("inputs") or {}, found.identifier),
        "refreshBeforeUpdate": True,
    }
    if found.replace:
        # What never came to be holds nothing that protection is for, and goes with its successor.
        made |= {"taint": True, "protect": False, "retainOnDelete": False}
    return [*kept, made]


def read_by(type_: str, inputs: Mapping[str, Any], identifier: str) -> dict[str, Any]:
    """Return the outputs by which the provider reads an object whose create was not heard of."""
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
