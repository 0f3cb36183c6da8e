"""Reasons for failed requests, as ParallelCluster's provider words them.

Source of the documents and the order of their keys: the `…ExceptionResponseContent` of
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/api/models, made by
`api/controllers/cluster_operations_controller.py`; of the order by level:
https://github.com/aws/aws-parallelcluster/blob/v3.13.1/cloudformation/custom_resource/cluster.yaml
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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
