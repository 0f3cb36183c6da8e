"""Job queues and job definitions of Batch.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/batch`:
`job_queue.go`, `job_definition.go`. A changed job definition is a new revision, whose ARN the
resource then has; the one before it is deregistered unless the program keeps it.
"""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account
from sandbox.providers.aws.inputs import filled
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.resources.batch_environment import retag

_LIMIT = 128
"""Characters of a name: https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html"""
_QUEUE = {
    "computeEnvironmentOrders": "computeEnvironmentOrder",
    "jobStateTimeLimitActions": "jobStateTimeLimitActions",
    "priority": "priority",
    "state": "state",
}
_NUMBERS = frozenset({"order", "maxTimeSeconds"})


def _queue(inputs: Values) -> dict[str, Any]:
    return {aws: _whole(inputs[name]) for name, aws in _QUEUE.items() if inputs.get(name)}


def _whole(value: Any) -> Any:
    """Return a value whose numbers are whole ones, as the wire has none but floats."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: int(each) if key in _NUMBERS else each for key, each in value.items()}
    return int(value) if isinstance(value, float) else value


def _create_queue(account: Account, inputs: Values) -> tuple[str, Values]:
    tags = {"tags": inputs["tags"]} if inputs.get("tags") else {}
    made = account.client("batch").create_job_queue(
        jobQueueName=inputs["name"], **_queue({"priority": 0, **inputs}), **tags
    )
    return made["jobQueueArn"], {}


def _read_queue(account: Account, arn: str) -> Values | None:
    found = account.client("batch").describe_job_queues(jobQueues=[arn])["jobQueues"]
    if not found:
        return None
    (queue,) = found
    return {
        "arn": queue["jobQueueArn"],
        "name": queue["jobQueueName"],
        "tags": queue.get("tags") or None,
        **{name: queue.get(aws) or None for name, aws in _QUEUE.items() if name != "priority"},
        "priority": queue["priority"],
    }


def _update_queue(account: Account, arn: str, olds: Values, news: Values) -> None:
    changed = {
        name: news[name] for name in _QUEUE if olds.get(name) != news.get(name) and name in news
    }
    if changed:
        account.client("batch").update_job_queue(jobQueue=arn, **_queue(changed))
    retag(account, arn, olds, news)


def _delete_queue(account: Account, arn: str, outputs: Values) -> None:
    batch = account.client("batch")
    try:
        batch.update_job_queue(jobQueue=arn, state="DISABLED")
    except ClientError as error:
        if "does not exist" in str(error):
            return
        raise
    batch.delete_job_queue(jobQueue=arn)


JOB_QUEUE = ResourceType(
    token="aws:batch/jobQueue:JobQueue",
    inputs=frozenset({"name", "tags", *_QUEUE}),
    required=frozenset({"priority", "state"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset({"name"}),
    name_property="name",
    name_limit=_LIMIT,
    create=_create_queue,
    read=_read_queue,
    update=_update_queue,
    delete=_delete_queue,
)

_DOCUMENTS = {"containerProperties": "container", "nodeProperties": "multinode"}
"""Properties that hold JSON, and the type of job definition that each belongs to."""


def _definition(inputs: Values) -> dict[str, Any]:
    for name, kind in _DOCUMENTS.items():
        if inputs.get(name) and inputs["type"] != kind:
            raise ProviderError(f'No `{name}` can be specified when `type` is "{inputs["type"]}"')
    strategy, timeout = inputs.get("retryStrategy"), inputs.get("timeout")
    given: dict[str, Any] = {
        **{name: json.loads(inputs[name]) for name in _DOCUMENTS if inputs.get(name)},
        **{name: inputs[name] for name in ("parameters", "tags") if inputs.get(name)},
        "platformCapabilities": inputs.get("platformCapabilities") or [],
        "propagateTags": inputs["propagateTags"],
    }
    if strategy:
        given["retryStrategy"] = {**strategy, "attempts": int(strategy.get("attempts", 1))}
    if timeout:
        seconds = int(timeout["attemptDurationSeconds"])
        given["timeout"] = {"attemptDurationSeconds": seconds}
    return given


def _register(account: Account, inputs: Values) -> tuple[str, Values]:
    try:
        made = account.client("batch").register_job_definition(
            jobDefinitionName=inputs["name"], type=inputs["type"], **_definition(inputs)
        )
    except (ParamValidationError, ValueError) as error:
        raise ProviderError(
            f"the properties of {inputs['name']} are none of Batch's: {error}"
        ) from error
    return made["jobDefinitionArn"], {}


def _revisions(account: Account, arn: str) -> list[dict[str, Any]]:
    """Return the active revisions of a job definition, the newest first.

    The engine knows the ARN of the first one: an update changes no id.
    """
    name = arn.partition(":job-definition/")[2].partition(":")[0]
    found = account.client("batch").describe_job_definitions(
        jobDefinitionName=name, status="ACTIVE"
    )["jobDefinitions"]
    return sorted(found, key=lambda each: -each["revision"])


def _read_definition(account: Account, arn: str) -> Values | None:
    found = next(iter(_revisions(account, arn)), None)
    if found is None:
        return None
    return {
        "arn": found["jobDefinitionArn"],
        "arnPrefix": found["jobDefinitionArn"].rpartition(":")[0],
        "revision": found["revision"],
        "name": found["jobDefinitionName"],
        "type": found["type"],
        "parameters": found.get("parameters") or None,
        "platformCapabilities": found.get("platformCapabilities") or None,
        "propagateTags": found["propagateTags"],
        "retryStrategy": found.get("retryStrategy"),
        "timeout": found.get("timeout"),
        "tags": found.get("tags") or None,
        **{name: _text(found[name]) if name in found else None for name in _DOCUMENTS},
    }


def _text(document: Any) -> str:
    """Return a document as the official provider keeps it: without what is empty."""
    return json.dumps(filled(document), sort_keys=True)


def _update_definition(account: Account, arn: str, olds: Values, news: Values) -> None:
    before = _revisions(account, arn)
    kept = {"tags", "deregisterOnNewRevision"}
    if any(olds.get(key) != news.get(key) for key in {*olds, *news} - kept):
        _register(account, news)
        if before and news["deregisterOnNewRevision"]:
            account.client("batch").deregister_job_definition(
                jobDefinition=before[0]["jobDefinitionArn"]
            )
    else:
        retag(account, before[0]["jobDefinitionArn"], olds, news)


def _deregister(account: Account, arn: str, outputs: Values) -> None:
    for each in _revisions(account, arn):
        account.client("batch").deregister_job_definition(jobDefinition=each["jobDefinitionArn"])


JOB_DEFINITION = ResourceType(
    token="aws:batch/jobDefinition:JobDefinition",
    inputs=frozenset(
        {
            "deregisterOnNewRevision",
            "name",
            "parameters",
            "platformCapabilities",
            "propagateTags",
            "retryStrategy",
            "tags",
            "timeout",
            "type",
            *_DOCUMENTS,
        }
    ),
    required=frozenset({"type"}),
    computed=frozenset({"arn", "arnPrefix", "revision"}),
    replace_on=frozenset({"name"}),
    recomputed=frozenset({"arn", "revision"}),
    name_property="name",
    name_limit=_LIMIT,
    defaults={"deregisterOnNewRevision": True, "propagateTags": False},
    create=_register,
    read=_read_definition,
    update=_update_definition,
    delete=_deregister,
)

RESOURCE_TYPES = (JOB_QUEUE, JOB_DEFINITION)
