"""RegisterJobDefinition, DescribeJobDefinitions, DeregisterJobDefinition.

https://docs.aws.amazon.com/batch/latest/userguide/job_definition_parameters.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult

from trainyard.sandbox.aws.batch.definition_checks import check_container, check_nodes
from trainyard.sandbox.aws.batch.environment_checks import check_name
from trainyard.sandbox.aws.batch.environments import EnvironmentCalls
from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.store import Fields

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
