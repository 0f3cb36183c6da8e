"""Job definitions: their calls, and Batch's validation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.batch.environments import EnvironmentCalls, check_name
from trainyard.sandbox.aws.batch.scheduler import size_of
from trainyard.sandbox.aws.batch.store import Fields, only, refuse

# Batch's validation of a job definition, in particular a multi-node parallel one.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html
#     https://docs.aws.amazon.com/batch/latest/userguide/mnp-node-groups.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html


MAXIMUM_NODES = 1000
_MAXIMUM_RANGES = 5
_MINIMUM_MEMORY_MIB = 4
_RANGE = re.compile(r"(?P<first>\d*):(?P<last>\d*)|(?P<only>\d+)")


def check_container(container: Mapping[str, Any]) -> None:
    """Reject a container without an image, vCPUs or memory.

    Raises:
        ClientException: Names what is missing.
    """
    size = size_of(container)
    if not container.get("image"):
        refuse("Error executing request, Exception : Container properties must contain an image.")
    if size.vcpus <= 0:
        refuse("Error executing request, Exception : Container vCPUs must be given.")
    if size.memory_mib < _MINIMUM_MEMORY_MIB:
        refuse("Error executing request, Exception : Container memory must be at least 4 MiB.")


def check_nodes(properties: Mapping[str, Any]) -> None:
    """Reject nodes that Batch cannot run together.

    Raises:
        ClientException: The first problem.
    """
    count, ranges = properties["numNodes"], properties["nodeRangeProperties"]
    check_count(count, properties["mainNode"])
    if len(ranges) > _MAXIMUM_RANGES:
        refuse(f"A multi-node parallel job has at most {_MAXIMUM_RANGES} node groups.")
    for each in ranges:
        if not each.get("container"):
            raise NotImplementedError("nodes with anything but one container")
        check_container(each["container"])
    if len({kind for each in ranges for kind in _types(each)}) > 1:
        refuse("All node groups of a multi-node parallel job must use the same instance type.")
    _check_cover(ranges, count)


def check_count(count: int, main: int) -> None:
    """Reject an invalid number of nodes, or a main node outside the range.

    Raises:
        ClientException: Names the invalid value.
    """
    if not 1 <= count <= MAXIMUM_NODES:
        refuse(f"numNodes {count} must be between 1 and {MAXIMUM_NODES}.")
    if not 0 <= main < count:
        refuse(f"mainNode {main} must be smaller than numNodes {count}.")


def overridden_count(properties: Mapping[str, Any], count: int) -> int:
    """Return the requested number of nodes.

    Raises:
        ClientException: The node ranges do not allow an override.
    """
    bounds = [_bounds(each["targetNodes"], None) for each in properties["nodeRangeProperties"]]
    if all(last is not None for _, last in bounds):
        refuse(
            "numNodes can be overridden only where a node range of the job definition has an open "
            "upper boundary, as `0:` has."
        )
    check_count(count, properties["mainNode"])
    if any(first >= count for first, _ in bounds):
        refuse(f"The node ranges of the job definition do not fit {count} nodes.")
    return count


def _types(group: Mapping[str, Any]) -> list[str]:
    """Return the instance types of a node group, from the group or its container."""
    own = group["container"].get("instanceType")
    return [*(group.get("instanceTypes") or []), *([own] if own else [])]


def _check_cover(ranges: list[Mapping[str, Any]], count: int) -> None:
    """Reject ranges that do not cover all nodes, or exceed them."""
    covered: set[int] = set()
    for each in ranges:
        first, last = _bounds(each["targetNodes"], count - 1)
        if last is None or first > last or last >= count:
            refuse(f"targetNodes {each['targetNodes']} is outside of {count} nodes.")
        covered.update(range(first, last + 1))
    if covered != set(range(count)):
        refuse(f"The node ranges must cover all {count} nodes.")


def _bounds(target: str, end: int | None) -> tuple[int, int | None]:
    match = _RANGE.fullmatch(target)
    if match is None:
        refuse(f"targetNodes {target} is no range of nodes such as 0:3, 0: or 4.")
    if match["only"]:
        return int(match["only"]), int(match["only"])
    return int(match["first"] or 0), int(match["last"]) if match["last"] else end


# RegisterJobDefinition, DescribeJobDefinitions, DeregisterJobDefinition.
#
# https://docs.aws.amazon.com/batch/latest/userguide/job_definition_parameters.html


_KEPT = (
    "jobDefinitionName",
    "type",
    "parameters",
    "schedulingPriority",
    "containerProperties",
    "nodeProperties",
    "retryStrategy",
    "propagateTags",
    "timeout",
    "platformCapabilities",
)
_LISTS = (
    "command",
    "volumes",
    "environment",
    "mountPoints",
    "ulimits",
    "resourceRequirements",
    "secrets",
)
"""Fields that Batch describes as an empty list if they were not given."""


class DefinitionCalls(EnvironmentCalls):
    """Calls on job definitions; mixed into the Batch response class."""

    def register_job_definition(self) -> ActionResult:
        """RegisterJobDefinition: always creates a new revision."""
        asked: Mapping[str, Any] = self.params
        only(asked, (*_KEPT, "tags"), "a job definition")
        name = asked["jobDefinitionName"]
        check_name(name)
        _check(asked)
        kept = {key: asked[key] for key in _KEPT if asked.get(key) is not None}
        revision = self.store.revisions[name] = self.store.revisions.get(name, 0) + 1
        arn = f"{self.store.arn('job-definition', name)}:{revision}"
        self.store.definitions[arn] = {
            "parameters": {},
            "propagateTags": False,
            **kept,
            **_completed(kept),
            "jobDefinitionArn": arn,
            "revision": revision,
            "status": "ACTIVE",
            "tags": dict(asked.get("tags") or {}),
            "containerOrchestrationType": "ECS",
        }
        return ActionResult(
            {"jobDefinitionName": name, "jobDefinitionArn": arn, "revision": revision}
        )

    def describe_job_definitions(self) -> ActionResult:
        """DescribeJobDefinitions; a name without revision returns all revisions."""
        asked: Mapping[str, Any] = self.params
        name, status = asked.get("jobDefinitionName"), asked.get("status")
        wanted: list[str] = asked.get("jobDefinitions") or []
        found = [
            each
            for arn, each in self.store.definitions.items()
            if name in (None, each["jobDefinitionName"])
            and status in (None, each["status"])
            and (not wanted or _is_meant(arn, wanted))
        ]
        return ActionResult({"jobDefinitions": found})

    def deregister_job_definition(self) -> EmptyResult:
        """DeregisterJobDefinition: it becomes INACTIVE, and its jobs continue."""
        self.store.definition(self.params["jobDefinition"])["status"] = "INACTIVE"
        return EmptyResult()


def _check(asked: Mapping[str, Any]) -> None:
    container, nodes = asked.get("containerProperties"), asked.get("nodeProperties")
    match asked["type"]:
        case "container" if container and not nodes:
            check_container(container)
        case "multinode" if nodes and not container:
            check_nodes(nodes)
        case "container" | "multinode":
            refuse(
                "Error executing request, Exception : containerProperties belong to job "
                "definitions of type container, nodeProperties to those of type multinode."
            )
        case other:
            refuse(f"Error executing request, Exception : Unknown job definition type {other}.")


def _completed(kept: Fields) -> Fields:
    """Return properties with the empty lists that Batch adds."""
    if "containerProperties" in kept:
        return {"containerProperties": _with_lists(kept["containerProperties"])}
    properties = kept["nodeProperties"]
    ranges = [
        {**each, "container": _with_lists(each["container"])}
        for each in properties["nodeRangeProperties"]
    ]
    return {"nodeProperties": {**properties, "nodeRangeProperties": ranges}}


def _with_lists(container: Fields) -> Fields:
    return {**{key: [] for key in _LISTS}, **container}


def _is_meant(arn: str, wanted: list[str]) -> bool:
    short = arn.partition(":job-definition/")[2]
    return arn in wanted or short in wanted or short.rpartition(":")[0] in wanted
