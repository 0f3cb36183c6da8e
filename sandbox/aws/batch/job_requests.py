"""How a submission overrides its job definition: containers and nodes.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerOverrides.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.aws.batch.definition_checks import overridden_count
from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.store import Fields

_OVERRIDES = ("vcpus", "memory", "command", "environment", "resourceRequirements")

_RANGE_OVERRIDES = ("targetNodes", "containerOverrides", "instanceTypes")


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The workload of a job.

    Attributes:
        fields: The fields of DescribeJobs.
        node_count: Number of nodes.
        containers: A container for each range of nodes.
        instance_types: Instance types in the definition; empty for any.
    """

    fields: Fields
    node_count: int
    containers: list[Mapping[str, Any]]
    instance_types: frozenset[str]


def one_container(asked: Mapping[str, Any], definition: Fields) -> Extent:
    """Return the single container of a job.

    Raises:
        ClientException: The job has no nodes to override.
    """
    if asked.get("nodeOverrides"):
        refuse("nodeOverrides are for jobs of multi-node parallel job definitions.")
    container = _overridden(definition["containerProperties"], asked.get("containerOverrides"))
    wanted = container.get("instanceType")
    return Extent(
        fields={"container": dict(container)},
        node_count=1,
        containers=[container],
        instance_types=frozenset({wanted} if wanted else ()),
    )


def job_nodes(asked: Mapping[str, Any], definition: Fields) -> Extent:
    """Return the nodes of a multi-node parallel job.

    Raises:
        ClientException: Overrides that its definition does not allow.
    """
    if asked.get("containerOverrides"):
        refuse("containerOverrides are not for multi-node parallel jobs: use nodeOverrides.")
    overrides = asked.get("nodeOverrides") or {}
    only(overrides, ("numNodes", "nodePropertyOverrides"), "overrides of nodes")
    properties = definition["nodeProperties"]
    count = properties["numNodes"]
    if overrides.get("numNodes"):
        count = overridden_count(properties, overrides["numNodes"])
    changes = {each["targetNodes"]: each for each in overrides.get("nodePropertyOverrides") or []}
    known = {each["targetNodes"] for each in properties["nodeRangeProperties"]}
    if changes.keys() - known:
        refuse(
            f"The job definition has the node ranges {', '.join(sorted(known))}, and not "
            f"{', '.join(sorted(changes.keys() - known))}."
        )
    ranges = [_range(each, changes) for each in properties["nodeRangeProperties"]]
    types = {kind for each in ranges for kind in each.get("instanceTypes") or []}
    nodes = {**properties, "numNodes": count, "nodeRangeProperties": ranges}
    return Extent(
        fields={"nodeProperties": nodes},
        node_count=count,
        containers=[each["container"] for each in ranges],
        instance_types=frozenset(types),
    )


def _range(properties: Fields, changes: Mapping[str, Fields]) -> Fields:
    change = changes.get(properties["targetNodes"], {})
    only(change, _RANGE_OVERRIDES, "overrides of a node range")
    types = change.get("instanceTypes")
    return {
        **properties,
        "container": _overridden(properties["container"], change.get("containerOverrides")),
        **({"instanceTypes": types} if types else {}),
    }


def _overridden(container: Fields, overrides: Mapping[str, Any] | None) -> Fields:
    """Return a container with a submission's overrides: variables and resources individually."""
    given = overrides or {}
    only(given, _OVERRIDES, "overrides of a container")
    merged = {
        "environment": _merged(container, given, "environment", by="name"),
        "resourceRequirements": _merged(container, given, "resourceRequirements", by="type"),
    }
    single = {key: given[key] for key in ("vcpus", "memory", "command") if given.get(key)}
    return {**container, **single, **merged}


def _merged(before: Fields, after: Mapping[str, Any], field: str, *, by: str) -> list[Fields]:
    both = (*before[field], *(after.get(field) or []))
    return list({each[by]: each for each in both}.values())
