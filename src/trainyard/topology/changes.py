"""What a preview changes, in the picture of what will be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trainyard.changes.steps import PlannedStep
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.topology.box import Box, Change, Kind, Occupant, Parts
from trainyard.topology.topology import SUBNET
from trainyard.workspace.urns import name_of, type_of

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

_MAIN = frozenset(
    {
        "aws:autoscaling/group:Group",
        "aws:batch/computeEnvironment:ComputeEnvironment",
        "aws:cloudformation/stack:Stack",
        "aws:ec2/subnet:Subnet",
        "aws:ec2/vpc:Vpc",
        "aws:ecr/repository:Repository",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    }
)
"""Types whose replacement replaces what a box shows; that of another resource, such as a policy,
changes it."""
_DELETED: Mapping[str, tuple[Kind, str]] = {
    "trainyard:eks:ManagedNodeGroup": ("nodes", "managed node group"),
    "trainyard:eks:SelfManagedNodeGroup": ("nodes", "self-managed node group"),
    "trainyard:batch:BatchComputeEnvironment": ("nodes", "compute environment"),
    "trainyard:batch:BatchJobDefinition": ("control-plane", "Batch job definition"),
    "trainyard:batch:ContainerRepository": ("storage", "ECR repository"),
    "trainyard:storage:FsxLustre": ("storage", "FSx for Lustre"),
    "trainyard:storage:OpenZfs": ("storage", "FSx for OpenZFS"),
    "trainyard:monitoring:Monitoring": ("service", "CloudWatch and SNS"),
}
"""Kind and caption of the boxes of components, by type."""
_IN_SUBNETS = frozenset({"nodes", "storage"})
_REGIONAL = "trainyard:batch:ContainerRepository"
_CHANGES: Mapping[frozenset[str], Change] = {
    frozenset({"create"}): "created",
    frozenset({"delete"}): "deleted",
}


def with_changes(root: Box, steps: Sequence[PlannedStep]) -> Box:
    """Return a picture whose boxes have the changes of their resources."""
    resources = {each.resource for each in root.all() if each.resource}
    found: dict[str, list[PlannedStep]] = {}
    for owner, step in _owned(steps, resources):
        found.setdefault(owner, []).append(step)
    return _marked(root, {owner: _change(own) for owner, own in found.items()})


def deleted_parts(root: Box, steps: Sequence[PlannedStep], plan: AnyPlan) -> Parts:
    """Return boxes for the components that are deleted and that a picture does not have."""
    known = {each.resource for each in root.all()}
    gone = {
        key: each
        for each in steps
        if each.operation == "delete"
        and type_of(each.urn) in _DELETED
        and (key := _key(each.urn)) not in known
    }
    inputs: dict[str, list[Mapping[str, Any]]] = {key: [] for key in gone}
    for owner, step in _owned(steps, gone):
        inputs[owner].append(step.old)
    boxes = {key: _deleted(key, step, inputs[key], plan.name) for key, step in gone.items()}
    placed = {key for key, box in boxes.items() if _is_in_subnets(key, box)}
    names = _subnet_names(steps, plan.network, plan.name)
    return Parts(
        services=tuple(box for key, box in boxes.items() if key not in placed),
        occupants=tuple(
            Occupant(box=boxes[key], subnets=_subnets(inputs[key], names))
            for key in boxes
            if key in placed
        ),
    )


def _owned(
    steps: Sequence[PlannedStep], resources: Mapping[str, object] | set[str]
) -> Iterator[tuple[str, PlannedStep]]:
    """Yield each step with the nearest of the resources that it is, or is below."""
    parents = {each.urn: each.parent for each in steps}
    for step in steps:
        urn = step.urn
        while urn and _key(urn) not in resources:
            urn = parents.get(urn, "")
        if urn:
            yield _key(urn), step


def _key(urn: str) -> str:
    return f"{type_of(urn)}::{name_of(urn)}"


def _change(steps: Sequence[PlannedStep]) -> Change | None:
    operations = frozenset(each.operation for each in steps)
    if operations == {"same"}:
        return None
    if any(each.operation == "replace" and each.type in _MAIN for each in steps):
        return "replaced"
    return _CHANGES.get(operations, "changed")


def _marked(box: Box, changes: Mapping[str, Change | None]) -> Box:
    rows = tuple(
        replace(row, boxes=tuple(_marked(each, changes) for each in row.boxes)) for row in box.rows
    )
    return replace(box, rows=rows, change=changes.get(box.resource, box.change))


def _is_in_subnets(key: str, box: Box) -> bool:
    return box.kind in _IN_SUBNETS and not key.startswith(_REGIONAL)


def _deleted(key: str, step: PlannedStep, inputs: Sequence[Mapping[str, Any]], stack: str) -> Box:
    kind, caption = _DELETED[type_of(step.urn)]
    types = {each["instanceType"] for each in inputs if isinstance(each.get("instanceType"), str)}
    return Box(
        kind=kind,
        title=step.name.removeprefix(f"{stack}-"),
        caption=caption,
        lines=tuple(sorted(types)),
        resource=key,
        change="deleted",
    )


def _subnet_names(
    steps: Sequence[PlannedStep], network: NetworkPlan, stack: str
) -> Mapping[str, str]:
    """Return the references of the subnets of a network, by id."""
    prefix = f"{stack}-network-"
    made = {
        each.identifier: each.name.removeprefix(prefix) for each in steps if each.type == SUBNET
    }
    existing = {each.name: each.name for each in network.subnets}
    return {key: name for key, name in (made | existing).items() if name in existing}


def _subnets(inputs: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> tuple[str, ...]:
    found = dict.fromkeys(text for each in inputs for text in _texts(each) if text in names)
    return tuple(sorted(names[each] for each in found))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
