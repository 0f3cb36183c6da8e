"""Requests to the provider: validated, and refused as ParallelCluster's provider words it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from trainyard.sandbox.parallelcluster.provider.account import Clients

# Reasons for failed requests, as ParallelCluster's provider words them.
#
# Source of the documents and the order of their keys: the `…ExceptionResponseContent` of
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/api/models, made by
# `api/controllers/cluster_operations_controller.py`; of the order by level:
# https://github.com/aws/aws-parallelcluster/blob/v3.13.1/cloudformation/custom_resource/cluster.yaml


_LEVELS = ("INFO", "WARNING", "ERROR")


class RefusedError(Exception):
    """The request fails; the message is the reason in the events of the stack."""


def bad_request(why: str) -> RefusedError:
    """Return the refusal of a request that cannot be validated at all."""
    return RefusedError(json.dumps({"message": f"Bad Request: {why}"}))


def invalid(messages: Sequence[Mapping[str, str]]) -> RefusedError:
    """Return the refusal of a configuration, the worst message last: a long reason keeps its end.

    Args:
        messages: Messages of the validators, each with `level`, `validator` and `text`.
    """
    return RefusedError(
        json.dumps(
            {
                "configuration_validation_errors": [
                    {"id": None, **each} for each in as_reported(messages)
                ],
                "message": "Invalid cluster configuration.",
            }
        )
    )


def as_reported(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return messages of validators as the API reports them, errors last."""
    ordered = sorted(messages, key=lambda each: _LEVELS.index(each["level"]))
    return [
        {"level": each["level"], "type": each["validator"], "message": each["text"]}
        for each in ordered
    ]


def not_updatable(rows: Sequence[Mapping[str, Any]]) -> RefusedError:
    """Return the refusal of a change.

    Args:
        rows: Rows of the report of ParallelCluster's `ConfigPatch`.
    """
    errors = [
        {
            "parameter": ".".join([*row["param_path"], row["parameter"]]),
            "requested_value": _value(row["new value"]),
            "message": _why(row),
            "current_value": _value(row["old value"]),
        }
        for row in rows
        if row["check"] != "SUCCEEDED"
    ]
    return RefusedError(
        json.dumps(
            {
                "configuration_validation_errors": None,
                "message": "Update failure",
                "update_validation_errors": errors,
            }
        )
    )


def _value(value: Any) -> str:
    return "-" if value is None else str(value)


def _why(row: Mapping[str, Any]) -> str:
    said = [part for part in (row["reason"], row["action_needed"]) if part]
    return ". ".join(said) or "Error during update"


# Requests of a template, validated like in the real provider.
#
# Source:
# https://github.com/aws/aws-parallelcluster/blob/v3.13.1/cloudformation/custom_resource/cluster.yaml
# (`create_or_update`), and `pcluster/lib/lib.py` of the package for the arguments of an operation.


_POLICIES = ("Retain", "Delete")
_META = frozenset({"ServiceToken", "DeletionPolicy"})
_OWN_TAG = {"Key": "parallelcluster:custom_resource", "Value": "cluster"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to create or change a cluster."""

    name: str
    configuration: Mapping[str, Any]
    """Configuration, including the tags of the stack."""
    suppressed: frozenset[str]
    """Names of the validators to skip; `ALL` for all."""
    refused_levels: frozenset[str]
    """Levels of messages that reject a configuration."""
    is_dry_run: bool
    is_forced: bool


def read_request(clients: Clients, event: Mapping[str, Any]) -> Request:
    """Read a `Create` or `Update`.

    Raises:
        RefusedError: The operation does not accept the properties.
    """
    properties, is_update = event["ResourceProperties"], event["RequestType"] == "Update"
    is_retained(properties)
    if not is_update and "ClusterName" not in properties:
        raise RefusedError("Couldn't find a ClusterName in the properties.")
    if is_update and event["PhysicalResourceId"] != properties.get("ClusterName"):
        raise RefusedError("Cannot update the ClusterName in the properties.")
    configuration = properties.get("ClusterConfiguration")
    if not configuration:
        raise bad_request("configuration is required and cannot be empty")
    arguments = {_snake_case(key): properties[key] for key in properties.keys() - _META}
    _check_arguments("update-cluster" if is_update else "create-cluster", arguments)
    return Request(
        name=properties["ClusterName"],
        configuration=_with_tags(clients, event["StackId"], configuration),
        suppressed=_suppressed(arguments.get("suppress_validators", ())),
        refused_levels=_refused_levels(arguments.get("validation_failure_level", "ERROR")),
        is_dry_run=arguments.get("dryrun") == "true",
        is_forced=arguments.get("force_update") == "true",
    )


def is_retained(properties: Mapping[str, Any]) -> bool:
    """Return whether the cluster is kept when the resource is deleted.

    Raises:
        RefusedError: `DeletionPolicy` is neither `Retain` nor `Delete`.
    """
    policy = properties.get("DeletionPolicy", "Delete")
    if policy not in _POLICIES:
        raise RefusedError('DeletionPolicy must be one of ["Retain", "Delete"].')
    return policy == "Retain"


def _check_arguments(operation: str, given: Mapping[str, Any]) -> None:
    parameters = import_module("pcluster.lib.lib")._load_model()[operation]["params"]  # noqa: SLF001
    known = {_snake_case(each["name"]) for each in parameters}
    required = {_snake_case(each["name"]) for each in parameters if each["required"]}
    missing = required - given.keys()
    if missing:
        raise RefusedError(f"<{operation}> missing required arguments: {missing}")
    unexpected = given.keys() - known - {"query", "debug"}
    if unexpected:
        raise RefusedError(f"<{operation}> got unexpected arguments: {unexpected}")


def _snake_case(name: str) -> str:
    return import_module("pcluster.utils").to_snake_case(name)


def _suppressed(given: Sequence[str] | str) -> frozenset[str]:
    names = [given] if isinstance(given, str) else given
    return frozenset(name.removeprefix("type:") for name in names)


def _refused_levels(least: str) -> frozenset[str]:
    if least not in _LEVELS:
        raise bad_request(f"'{least}' is not one of {list(_LEVELS)}")
    return frozenset(_LEVELS[_LEVELS.index(least) :])


def _with_tags(clients: Clients, stack_id: str, configuration: Mapping[str, Any]) -> dict[str, Any]:
    own = configuration.get("Tags") or []
    overridden = {tag["Key"] for tag in own}
    stack = clients("cloudformation").describe_stacks(StackName=stack_id)["Stacks"][0]
    of_stack = [
        tag
        for tag in stack.get("Tags") or []
        if not tag["Key"].startswith("aws:") and tag["Key"] not in overridden
    ]
    return {**configuration, "Tags": [*of_stack, *own, _OWN_TAG]}
