"""Compute environments: their calls, and Batch's validation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.batch.nodes import (
    choose_template_version,
    desired_vcpus,
    problem_of,
    terminate,
)
from trainyard.sandbox.aws.batch.scheduler import end_jobs, keep_minimum
from trainyard.sandbox.aws.batch.store import BatchBase, ComputeEnvironment, Fields, only, refuse
from trainyard.sandbox.aws.ec2.instance_types import type_information
from trainyard.sandbox.aws.ec2.launch_request import merge
from trainyard.sandbox.aws.transitions import TRANSITIONS

# Batch's validation of a compute environment that is created or updated.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
#     https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_MAXIMUM_GROUPS = 5
"""https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html, and the limit per network
interface:
https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html"""
_KNOWN = frozenset(
    {
        "type",
        "allocationStrategy",
        "minvCpus",
        "maxvCpus",
        "desiredvCpus",
        "instanceTypes",
        "imageId",
        "subnets",
        "securityGroupIds",
        "ec2KeyPair",
        "instanceRole",
        "tags",
        "placementGroup",
        "bidPercentage",
        "spotIamFleetRole",
        "launchTemplate",
        "ec2Configuration",
    }
)
_STRATEGIES = {
    "EC2": ("BEST_FIT", "BEST_FIT_PROGRESSIVE", "BEST_FIT_PROGRESSIVE_ORDERED"),
    "SPOT": (
        "BEST_FIT",
        "BEST_FIT_PROGRESSIVE",
        "SPOT_CAPACITY_OPTIMIZED",
        "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED",
        "SPOT_PRICE_CAPACITY_OPTIMIZED",
    ),
}
_SCALING = frozenset({"minvCpus", "maxvCpus", "desiredvCpus"})
"""Properties that change without new nodes."""


def check_name(name: str) -> None:
    """Reject an invalid name.

    Raises:
        ClientException: Describes the valid form.
    """
    if not _NAME.fullmatch(name):
        refuse(
            f"Error executing request, Exception : {name} is not a valid name: up to 128 letters, "
            "digits, hyphens and underscores, the first a letter or a digit."
        )


def check_resources(ec2: Any, resources: Fields) -> None:
    """Reject contradictory compute resources.

    Raises:
        ClientException: The first problem.
        NotImplementedError: Unsupported features, such as Fargate.
    """
    only(resources, _KNOWN, "a compute environment")
    kind = resources["type"]
    if kind not in _STRATEGIES:
        raise NotImplementedError(f"compute environments of type {kind}")
    for field in ("instanceTypes", "instanceRole", "subnets"):
        if not resources.get(field):
            refuse(f"{field} is required for compute resources of type {kind}.")
    if resources["allocationStrategy"] not in _STRATEGIES[kind]:
        strategy = resources["allocationStrategy"]
        refuse(f"allocationStrategy {strategy} is not supported for type {kind}.")
    _check_types(ec2, resources["instanceTypes"])
    _check_groups(ec2, resources)
    _check_sizes(resources)


def _check_types(ec2: Any, types: list[str]) -> None:
    for each in types:
        if "." not in each:
            raise NotImplementedError(f"a compute environment of the instance family {each}")
        try:
            type_information(ec2, each)
        except EC2ClientError:
            refuse(f"Error executing request, Exception : Instance type {each} is not valid.")


def _check_groups(ec2: Any, resources: Fields) -> None:
    groups = resources.get("securityGroupIds") or []
    if len(groups) > _MAXIMUM_GROUPS:
        refuse(f"A compute environment has at most {_MAXIMUM_GROUPS} security groups.")
    if not groups and not resources.get("launchTemplate"):
        refuse("securityGroupIds is required where no launch template names security groups.")
    template = resources.get("launchTemplate") or {"launchTemplateId": "-"}
    if bool(template.get("launchTemplateId")) == bool(template.get("launchTemplateName")):
        refuse("Specify either launchTemplateId or launchTemplateName, and not both.")
    if groups and _template_names_interfaces(ec2, template):
        refuse(
            "Error executing request, Exception : Either compute environment Security Groups or "
            "Network Interfaces in Launch template are exclusively allowed"
        )


def _template_names_interfaces(ec2: Any, template: Fields) -> bool:
    """Return whether a launch template has network interfaces.

    In combination with security groups in the environment, AWS rejects the environment:
    https://github.com/aws/aws-cdk/issues/21577
    """
    names = {
        "LaunchTemplateId": template.get("launchTemplateId"),
        "LaunchTemplateName": template.get("launchTemplateName"),
        "Version": template.get("version"),
    }
    try:
        merged = merge(ec2, {"LaunchTemplate": names}).parameters
    except ServiceException:
        return False  # the environment becomes INVALID with the reason
    return bool(merged.get("NetworkInterfaces"))


def _check_sizes(resources: Fields) -> None:
    minimum, maximum = resources["minvCpus"], resources["maxvCpus"]
    if not 0 <= minimum <= maximum:
        refuse(f"minvCpus {minimum} must be between 0 and maxvCpus {maximum}.")
    if not minimum <= resources["desiredvCpus"] <= maximum:
        refuse("desiredvCpus must be between minvCpus and maxvCpus.")


def infrastructure_changes(before: Fields, change: Mapping[str, Any]) -> list[str]:
    """Return the properties of a change that require new nodes."""
    return sorted(
        field
        for field, value in change.items()
        if field not in _SCALING and value != before.get(field)
    )


def check_update(fields: Fields, change: Mapping[str, Any], *, service_linked_role: str) -> None:
    """Reject a change that Batch does not support for any environment, or for this one.

    Raises:
        ClientException: Why it cannot be updated in place.
    """
    before = fields["computeResources"]
    if change.get("desiredvCpus", before["desiredvCpus"]) < before["desiredvCpus"]:
        refuse(
            "Manually scaling down compute environment is not supported. Disconnecting job queues "
            "from compute environment will cause it to scale-down to minvCpus."
        )
    changed = infrastructure_changes(before, change)
    if not changed:
        return
    if fields["serviceRole"] != service_linked_role:
        refuse(
            f"{', '.join(changed)} can be updated only in a compute environment whose service role "
            "is AWSServiceRoleForBatch."
        )
    if before["allocationStrategy"] == "BEST_FIT":
        refuse(
            f"{', '.join(changed)} cannot be updated in a compute environment with the allocation "
            "strategy BEST_FIT."
        )


# CreateComputeEnvironment, its updates, DescribeComputeEnvironments, DeleteComputeEnvironment.
#
# When AWS would have completed the operation, an environment becomes VALID, or INVALID with the
# reason why its nodes cannot start.
# https://docs.aws.amazon.com/batch/latest/userguide/compute_environments.html


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
