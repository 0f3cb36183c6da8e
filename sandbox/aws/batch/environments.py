"""CreateComputeEnvironment, its updates, DescribeComputeEnvironments, DeleteComputeEnvironment.

When AWS would have completed the operation, an environment becomes VALID, or INVALID with the
reason why its nodes cannot start.
https://docs.aws.amazon.com/batch/latest/userguide/compute_environments.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.batch.base import BatchBase
from trainyard.sandbox.aws.batch.environment_checks import (
    check_name,
    check_resources,
    check_update,
    infrastructure_changes,
)
from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.nodes import (
    choose_template_version,
    desired_vcpus,
    problem_of,
    terminate,
)
from trainyard.sandbox.aws.batch.scheduler import end_jobs, keep_minimum
from trainyard.sandbox.aws.batch.store import ComputeEnvironment, Fields
from trainyard.sandbox.aws.transitions import TRANSITIONS

_TYPE = "aws:batch/computeEnvironment:ComputeEnvironment"
_CREATED = (
    "computeEnvironmentName",
    "type",
    "state",
    "computeResources",
    "serviceRole",
    "tags",
)
_UPDATED = ("computeEnvironment", "state", "computeResources", "serviceRole", "updatePolicy")
_POLICY = {"terminateJobsOnUpdate": False, "jobExecutionTimeoutMinutes": 30}
"""https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html"""


class EnvironmentCalls(BatchBase):
    """Calls on compute environments; mixed into the Batch response class."""

    def create_compute_environment(self) -> ActionResult:
        """CreateComputeEnvironment."""
        asked: Mapping[str, Any] = self.params
        only(asked, _CREATED, "a compute environment")
        name = asked["computeEnvironmentName"]
        check_name(name)
        arn = self.store.arn("compute-environment", name)
        if arn in self.store.environments:
            refuse(f"Object already exists: {name}")
        if asked["type"] != "MANAGED":
            raise NotImplementedError(f"compute environments of type {asked['type']}")
        if not asked.get("computeResources"):
            refuse("computeResources must be provided for a MANAGED compute environment.")
        resources = _completed(asked["computeResources"])
        check_resources(self.ec2, resources)
        made = ComputeEnvironment(fields=self._fields(arn, asked, resources))
        choose_template_version(self.ec2, made)
        self.store.environments[arn] = made
        made.fields.update(status="CREATING", statusReason="")
        TRANSITIONS.begin(_TYPE, "create", lambda: self._settle(made))
        return _named(made)

    def describe_compute_environments(self) -> ActionResult:
        """DescribeComputeEnvironments."""
        for environment in self.store.environments.values():
            environment.resources["desiredvCpus"] = max(
                desired_vcpus(environment), environment.resources["minvCpus"]
            )
        wanted = self.params.get("computeEnvironments")
        found = self.store.described("compute-environment", wanted)
        return ActionResult({"computeEnvironments": [_described(each) for each in found]})

    def update_compute_environment(self) -> ActionResult:
        """UpdateComputeEnvironment: a scaling update, or an infrastructure update."""
        asked: Mapping[str, Any] = self.params
        only(asked, _UPDATED, "an update of a compute environment")
        environment = self.store.environment(asked["computeEnvironment"])
        fields = environment.fields
        change = dict(asked.get("computeResources") or {})
        if change.pop("updateToLatestImageVersion", None):
            raise NotImplementedError("updateToLatestImageVersion: the sandbox has one image")
        change = {key: _normal({key: value}).get(key) for key, value in change.items()}
        check_update(fields, change, service_linked_role=self._service_linked_role)
        after = {"tags": {}, **_normal({**environment.resources, **change})}
        if "desiredvCpus" not in change:
            lowest = max(after["desiredvCpus"], after["minvCpus"])
            after["desiredvCpus"] = min(lowest, after["maxvCpus"])
        check_resources(self.ec2, after)
        anew = bool(infrastructure_changes(environment.resources, change))
        for key in ("state", "serviceRole"):
            fields[key] = asked.get(key) or fields[key]
        fields["updatePolicy"].update(asked.get("updatePolicy") or {})
        fields["computeResources"] = after
        if anew:
            self._replace_nodes(environment)
        fields.update(status="UPDATING", statusReason="")
        TRANSITIONS.begin(_TYPE, "update", lambda: self._settle(environment))
        return _named(environment)

    def delete_compute_environment(self) -> EmptyResult:
        """DeleteComputeEnvironment: must be disabled and not in a queue."""
        name = self.params["computeEnvironment"]
        arn = name if name.startswith("arn:") else self.store.arn("compute-environment", name)
        environment = self.store.environments.get(arn)
        if environment is None:
            return EmptyResult()
        if environment.fields["state"] != "DISABLED":
            refuse("Cannot delete, state must be DISABLED")
        if any(arn in _environments_of(queue) for queue in self.store.queues.values()):
            refuse("Cannot delete, found existing JobQueue relationship")
        self._let_go(environment)
        environment.fields.update(status="DELETING", statusReason="")
        environments = self.store.environments
        TRANSITIONS.begin(_TYPE, "delete", lambda: environments.pop(arn, None))
        return EmptyResult()

    @property
    def _service_linked_role(self) -> str:
        return (
            f"arn:{self.partition}:iam::{self.current_account}:role/aws-service-role/"
            "batch.amazonaws.com/AWSServiceRoleForBatch"
        )

    def _fields(self, arn: str, asked: Mapping[str, Any], resources: Fields) -> Fields:
        identifier = str(mock_random.uuid4())
        name = asked["computeEnvironmentName"]
        cluster = f"AWSBatch-{name}-{identifier}"
        place = f"{self.region}:{self.current_account}"
        return {
            "computeEnvironmentName": name,
            "computeEnvironmentArn": arn,
            "ecsClusterArn": f"arn:{self.partition}:ecs:{place}:cluster/{cluster}",
            "tags": dict(asked.get("tags") or {}),
            "type": asked["type"],
            "state": asked.get("state") or "ENABLED",
            "computeResources": resources,
            "serviceRole": asked.get("serviceRole") or self._service_linked_role,
            "updatePolicy": dict(_POLICY),
            "containerOrchestrationType": "ECS",
            "uuid": identifier,
        }

    def _settle(self, environment: ComputeEnvironment) -> None:
        problem = problem_of(self.ec2, environment)
        environment.fields["status"] = "INVALID" if problem else "VALID"
        environment.fields["statusReason"] = problem or "ComputeEnvironment Healthy"
        keep_minimum(self.ec2, environment)

    def _replace_nodes(self, environment: ComputeEnvironment) -> None:
        """Release the nodes of the old infrastructure; those with jobs when the jobs have ended."""
        environment.generation += 1
        environment.next_attempt = environment.refusal = None
        choose_template_version(self.ec2, environment)
        if environment.fields["updatePolicy"]["terminateJobsOnUpdate"]:
            end_jobs(self.store, environment, "Job terminated due to compute environment update")
        for node in [each for each in environment.nodes if not each.jobs]:
            terminate(self.ec2, environment, node)

    def _let_go(self, environment: ComputeEnvironment) -> None:
        end_jobs(self.store, environment, "Compute environment was deleted")
        for node in [*environment.nodes]:
            terminate(self.ec2, environment, node)


def _completed(asked: Mapping[str, Any]) -> Fields:
    """Return compute resources with Batch's defaults."""
    minimum = asked.get("minvCpus") or 0
    return {
        "allocationStrategy": "BEST_FIT",
        "desiredvCpus": minimum,
        "tags": {},
        **_normal(asked),
        "minvCpus": minimum,
    }


def _normal(given: Mapping[str, Any]) -> Fields:
    """Return fields without empty ones, which Batch treats as not given."""
    template = given.get("launchTemplate")
    kept = {key: value for key, value in given.items() if value not in (None, "", [])}
    if template is not None and "launchTemplate" in kept:
        named = {key: value for key, value in template.items() if value not in (None, "", [])}
        kept["launchTemplate"] = {"version": "$Default", **named} if named else None
    return kept


def _described(fields: Fields) -> Fields:
    resources = {key: value for key, value in fields["computeResources"].items() if value}
    sizes = {key: fields["computeResources"][key] for key in ("minvCpus", "desiredvCpus")}
    return {**fields, "computeResources": {**resources, **sizes}}


def _environments_of(queue: Fields) -> list[str]:
    return [each["computeEnvironment"] for each in queue["computeEnvironmentOrder"]]


def _named(environment: ComputeEnvironment) -> ActionResult:
    keys = ("computeEnvironmentName", "computeEnvironmentArn")
    return ActionResult({key: environment.fields[key] for key in keys})
