"""Compute environments of Batch.

Which changes are made in place and which replace is decided as in the official provider:
https://github.com/hashicorp/terraform-provider-aws, `internal/service/batch/compute_environment.go`
(`ForceNew`, `CustomizeDiff`, `isUpdatableComputeEnvironment`).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, removed_tags
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import NOT_FOUND_CHECKS

_RESOURCES: Mapping[str, str] = {
    "allocationStrategy": "allocationStrategy",
    "bidPercentage": "bidPercentage",
    "desiredVcpus": "desiredvCpus",
    "ec2Configurations": "ec2Configuration",
    "ec2KeyPair": "ec2KeyPair",
    "imageId": "imageId",
    "instanceRole": "instanceRole",
    "instanceTypes": "instanceTypes",
    "launchTemplate": "launchTemplate",
    "maxVcpus": "maxvCpus",
    "minVcpus": "minvCpus",
    "placementGroup": "placementGroup",
    "securityGroupIds": "securityGroupIds",
    "spotIamFleetRole": "spotIamFleetRole",
    "subnets": "subnets",
    "tags": "tags",
    "type": "type",
}
"""Properties of `computeResources`, and Batch's names for them."""
_ALWAYS_REPLACING = frozenset({"placementGroup", "spotIamFleetRole"})
_IN_PLACE = frozenset({"minVcpus", "maxVcpus", "desiredVcpus", "type"})
"""What replaces in no environment; all else does in one that Batch does not update in place."""
_UPDATABLE_STRATEGIES = (
    "BEST_FIT_PROGRESSIVE",
    "SPOT_CAPACITY_OPTIMIZED",
    "SPOT_PRICE_CAPACITY_OPTIMIZED",
)
_SERVICE_LINKED_ROLE = re.compile(
    r"arn:[^:]+:iam::\d{12}:role/aws-service-role/batch\.amazonaws\.com/"
)
_INSIDE = {
    "launchTemplate": {"launchTemplateId", "launchTemplateName", "version"},
    "ec2Configurations": {"imageType", "imageIdOverride", "imageKubernetesVersion"},
}
_SUFFIX_BYTES = 13
"""Of the name that the official provider adds to a prefix: 26 digits."""
_EMPTY: Mapping[str, Any] = {"ec2KeyPair": "", "imageId": "", "instanceRole": "", "tags": {}}
"""What takes a property back; the others stay as they are."""


def _to_aws(name: str, value: Any) -> Any:
    if name == "ec2Configurations":
        return [{"imageType": "ECS_AL2", **each} for each in value]
    return int(value) if name.endswith("Vcpus") or name == "bidPercentage" else value


def _resources(inputs: Values) -> dict[str, Any]:
    given = inputs.get("computeResources") or {}
    return {
        aws: _to_aws(name, given[name])
        for name, aws in _RESOURCES.items()
        if given.get(name) is not None
    }


def _policy(inputs: Values) -> dict[str, Any]:
    given = inputs["updatePolicy"]
    return {
        "jobExecutionTimeoutMinutes": int(given.get("jobExecutionTimeoutMinutes", 30)),
        "terminateJobsOnUpdate": given.get("terminateJobsOnUpdate", False),
    }


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    name = inputs.get("name") or inputs["namePrefix"] + secrets.token_hex(_SUFFIX_BYTES)
    given = {key: inputs[key] for key in ("serviceRole", "state", "tags") if inputs.get(key)}
    account.client("batch").create_compute_environment(
        computeEnvironmentName=name,
        type=inputs["type"],
        computeResources=_resources(inputs),
        **given,
    )
    return name, {}


def _settle(account: Account, name: str, inputs: Values) -> None:
    """Wait until it is valid; the update policy is none of CreateComputeEnvironment's."""
    _check_valid(account, name)
    if inputs.get("updatePolicy"):
        account.client("batch").update_compute_environment(
            computeEnvironment=name, updatePolicy=_policy(inputs)
        )


def _check_valid(account: Account, name: str) -> None:
    found = _described(account, name)
    for _ in range(NOT_FOUND_CHECKS if found is None else 0):
        # A new environment may not be shown yet; the official provider's waiter bears that.
        found = found or _described(account, name)
    if found is None or found["status"] != "VALID":
        status, reason = (found["status"], found["statusReason"]) if found else ("gone", "")
        raise ProviderError(
            f"waiting for Batch Compute Environment ({name}): unexpected state '{status}', wanted "
            f"target 'VALID'. last error: {reason}"
        )


def _described(account: Account, name: str) -> dict[str, Any] | None:
    answer = account.client("batch").describe_compute_environments(computeEnvironments=[name])
    return next(iter(answer["computeEnvironments"]), None)


def _read(account: Account, name: str) -> Values | None:
    found = _described(account, name)
    if found is None:
        return None
    resources = found["computeResources"]
    policy = found["updatePolicy"]
    return {
        "arn": found["computeEnvironmentArn"],
        "name": found["computeEnvironmentName"],
        "ecsClusterArn": found["ecsClusterArn"],
        "serviceRole": found["serviceRole"],
        "state": found["state"],
        "status": found["status"],
        "statusReason": found["statusReason"],
        "type": found["type"],
        "tags": found.get("tags") or None,
        "computeResources": {
            name: resources[aws] for name, aws in _RESOURCES.items() if aws in resources
        },
        "updatePolicy": {
            key: policy[key] for key in ("jobExecutionTimeoutMinutes", "terminateJobsOnUpdate")
        },
    }


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    batch = account.client("batch")
    if any(olds.get(key) != news.get(key) for key in {*olds, *news} - {"tags"}):
        batch.update_compute_environment(
            computeEnvironment=name,
            computeResources=_changed_resources(olds, news),
            **{
                key: news[key] for key in ("serviceRole", "state") if olds.get(key) != news.get(key)
            },
            **({"updatePolicy": _policy(news)} if news.get("updatePolicy") else {}),
        )
        _check_valid(account, name)
    retag(account, account.arn("batch", f"compute-environment/{name}"), olds, news)


def _changed_resources(olds: Values, news: Values) -> dict[str, Any]:
    """Return what changes, and the maximum always: Batch wants at least one attribute."""
    before, after = olds.get("computeResources") or {}, news["computeResources"]
    changed = {
        name: after[name] if after.get(name) is not None else _EMPTY.get(name)
        for name in _RESOURCES.keys() - _ALWAYS_REPLACING
        if before.get(name) != after.get(name)
    }
    changed["maxVcpus"] = after["maxVcpus"]
    return {
        _RESOURCES[name]: _to_aws(name, value)
        for name, value in sorted(changed.items())
        if value is not None
    }


def retag(account: Account, arn: str, olds: Values, news: Values) -> None:
    """Bring the tags of an object of Batch from what they were to what is wanted."""
    batch = account.client("batch")
    gone = removed_tags(olds, news)
    if gone:
        batch.untag_resource(resourceArn=arn, tagKeys=gone)
    if news.get("tags"):
        batch.tag_resource(resourceArn=arn, tags=news["tags"])


def _delete(account: Account, name: str, outputs: Values) -> None:
    batch = account.client("batch")
    try:
        batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    except ClientError as error:
        if "does not exist" in str(error):
            return
        raise
    batch.delete_compute_environment(computeEnvironment=name)


def _replacing(olds: Values, news: Values) -> list[str]:
    before, after = olds.get("computeResources") or {}, news.get("computeResources") or {}
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    comes_or_goes = bool(before.get("launchTemplate")) != bool(after.get("launchTemplate"))
    counts = [len(each.get("ec2Configurations") or []) for each in (before, after)]
    replaces = (
        changed & _ALWAYS_REPLACING
        or comes_or_goes
        or counts[0] != counts[1]
        or (changed - _IN_PLACE and not (_is_updatable(olds) and _is_updatable(news)))
    )
    return ["computeResources"] if replaces else []


def _is_updatable(inputs: Values) -> bool:
    """Return whether Batch updates such an environment in place."""
    role = inputs.get("serviceRole") or ""
    strategy = (inputs.get("computeResources") or {}).get("allocationStrategy")
    own_role = bool(role) and not _SERVICE_LINKED_ROLE.match(role)
    return not own_role and strategy in _UPDATABLE_STRATEGIES


def _unknown_inside(inputs: Values) -> list[str]:
    resources = inputs.get("computeResources") or {}
    if not isinstance(resources, dict):
        return []
    found = [f"computeResources.{name}" for name in sorted(resources.keys() - _RESOURCES.keys())]
    template = resources.get("launchTemplate")
    configurations = resources.get("ec2Configurations")
    for name, parts in (
        ("launchTemplate", [template]),
        ("ec2Configurations", configurations if isinstance(configurations, list) else []),
    ):
        for part in parts:
            if isinstance(part, dict):
                path = f"computeResources.{name}"
                found += [f"{path}.{key}" for key in sorted(part.keys() - _INSIDE[name])]
    return found


COMPUTE_ENVIRONMENT = ResourceType(
    token="aws:batch/computeEnvironment:ComputeEnvironment",
    inputs=frozenset(
        {
            "computeResources",
            "name",
            "namePrefix",
            "serviceRole",
            "state",
            "tags",
            "type",
            "updatePolicy",
        }
    ),
    required=frozenset({"type"}),
    computed=frozenset({"arn", "ecsClusterArn", "serviceRole", "status", "statusReason"}),
    computed_inside={"computeResources": frozenset({"desiredVcpus"})},
    replace_on=frozenset({"name", "namePrefix", "type"}),
    replace_when=_replacing,
    name_property="name",
    name_prefix_property="namePrefix",
    defaults={"state": "ENABLED"},
    create=_create,
    settle=_settle,
    unknown_inside=_unknown_inside,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (COMPUTE_ENVIRONMENT,)
