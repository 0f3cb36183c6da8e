"""Stacks of CloudFormation: made, changed and deleted, each waited for to its end.

Source: https://github.com/hashicorp/terraform-provider-aws, `internal/service/cloudformation`,
`stack.go` (statuses that are waited for, reasons from the stack's events, `ForceNew`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 1800.0
"""The official provider's limit of every operation."""
_GONE = "DELETE_COMPLETE"
_CREATED = frozenset({"CREATE_COMPLETE"})
_UPDATED = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
_SETTINGS = {
    "capabilities": "Capabilities",
    "disableRollback": "DisableRollback",
    "onFailure": "OnFailure",
    "templateUrl": "TemplateURL",
    "timeoutInMinutes": "TimeoutInMinutes",
}
_CREATED_WITH = ("disableRollback", "onFailure", "timeoutInMinutes")
"""What an update does not take."""

_Reason = Callable[[dict[str, Any]], bool]


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    made = account.client("cloudformation").create_stack(
        StackName=inputs["name"],
        ClientRequestToken=str(uuid4()),
        **_arguments(inputs, frozenset(_SETTINGS)),
    )
    if inputs.get("onFailure") == "DELETE":
        # Where it fails there is nothing left that the engine could keep.
        _await_creation(account, made["StackId"], inputs)
    return made["StackId"], {}


def _arguments(inputs: Values, settings: frozenset[str]) -> dict[str, Any]:
    """Return arguments of both calls; parameters and capabilities are never kept from before."""
    given = {_SETTINGS[name]: inputs[name] for name in sorted(settings) if name in inputs}
    if "templateBody" in inputs and "templateUrl" not in inputs:
        given["TemplateBody"] = inputs["templateBody"]
    parameters = inputs.get("parameters") or {}
    return {
        **given,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
        "Tags": tag_list(inputs.get("tags")),
    }


def _await_creation(account: Account, identifier: str, inputs: Values) -> None:
    _await(account, identifier, "create", _CREATED)


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    changeable = frozenset(_SETTINGS.keys() - set(_CREATED_WITH))
    try:
        account.client("cloudformation").update_stack(
            StackName=identifier, **_arguments(news, changeable)
        )
    except ClientError as error:
        if "No updates are to be performed" not in error.response["Error"]["Message"]:
            raise
    _await(account, identifier, "update", _UPDATED)


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    account.client("cloudformation").delete_stack(StackName=identifier)
    _await(account, identifier, "delete", frozenset({_GONE}))


def _await(account: Account, identifier: str, operation: str, wanted: frozenset[str]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (status := _status(account, identifier)).endswith("IN_PROGRESS"):
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_SECONDS)
    if status not in wanted:
        raise ProviderError(
            f"waiting for CloudFormation Stack ({identifier}) {operation}: stack status "
            f"({status}): {_reasons(account, identifier, status)}"
        )


def _status(account: Account, identifier: str) -> str:
    found = _find(account, identifier)
    return found["StackStatus"] if found else _GONE


def _reasons(account: Account, identifier: str, status: str) -> str:
    """Return why the last operation failed, a line for each event that says so."""
    said = _told_by(status)
    client = account.client("cloudformation")
    reasons: list[str] = []
    for page in client.get_paginator("describe_stack_events").paginate(StackName=identifier):
        for event in page["StackEvents"]:
            reason = event.get("ResourceStatusReason")
            if reason == "User Initiated":  # where the operation began; the newest comes first
                return "\n".join(reasons)
            if reason and (event["ResourceStatus"].endswith("_FAILED") or said(event)):
                reasons.append(reason)
    return "\n".join(reasons)


def _told_by(status: str) -> _Reason:
    """Return which events but the failed ones say why a stack is in this status."""
    if "ROLLBACK" in status:
        return lambda event: event["ResourceStatus"].startswith("ROLLBACK_")
    if status == _GONE:
        return lambda event: (
            event["ResourceStatus"] == "DELETE_IN_PROGRESS"
            and event["ResourceType"] == "AWS::CloudFormation::Stack"
        )
    return lambda _: False


def _read(account: Account, identifier: str) -> Values | None:
    stack = _find(account, identifier)
    if stack is None or stack["StackStatus"] == _GONE:
        return None
    body = account.client("cloudformation").get_template(
        StackName=identifier, TemplateStage="Original"
    )["TemplateBody"]
    parameters = {
        each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])
    }
    return {
        "name": stack["StackName"],
        "capabilities": stack.get("Capabilities") or None,
        "outputs": {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])},
        "parameters": parameters or None,
        "tags": tag_map(stack.get("Tags")) or None,
        # boto3 parses a template that is JSON.
        "templateBody": body if isinstance(body, str) else json.dumps(body, sort_keys=True),
    }


def _find(account: Account, identifier: str) -> dict[str, Any] | None:
    try:
        described = account.client("cloudformation").describe_stacks(StackName=identifier)
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise
    return described["Stacks"][0]


STACK = ResourceType(
    token="aws:cloudformation/stack:Stack",
    inputs=frozenset({"name", "parameters", "tags", "templateBody", *_SETTINGS}),
    computed=frozenset({"outputs"}),
    recomputed=frozenset({"outputs"}),
    replace_on=frozenset({"name", *_CREATED_WITH}),
    name_property="name",
    name_limit=128,  # of a stack: API_CreateStack, StackName
    create=_create,
    settle=_await_creation,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (STACK,)
