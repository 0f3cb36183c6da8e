"""Refusals have the messages of the real provider."""

from __future__ import annotations

import json

from trainyard.sandbox.parallelcluster.provider.handler import shortened
from trainyard.sandbox.parallelcluster.provider.requests import bad_request, invalid, not_updatable

ROW = {
    "param_path": ["HeadNode"],
    "parameter": "InstanceType",
    "old value": "c5.large",
    "new value": None,
    "check": "ACTION NEEDED",
    "reason": "not supported",
    "action_needed": "Restore it.",
    "update_policy": "UNSUPPORTED",
}


def test_the_worst_message_of_the_validators_is_the_last() -> None:
    error = {"level": "ERROR", "validator": "EfaValidator", "text": "no EFA"}
    warning = {"level": "WARNING", "validator": "Other", "text": "careful"}
    said = str(invalid([error, warning]))
    document = json.loads(said)
    assert list(document) == ["configuration_validation_errors", "message"]
    levels = [each["level"] for each in document["configuration_validation_errors"]]
    assert levels == ["WARNING", "ERROR"]
    assert "EfaValidator" in shortened(said)


def test_a_refused_change_names_parameter_values_and_way_out() -> None:
    allowed = {**ROW, "check": "SUCCEEDED"}
    document = json.loads(str(not_updatable([allowed, ROW])))
    assert document["message"] == "Update failure"
    assert document["update_validation_errors"] == [
        {
            "parameter": "HeadNode.InstanceType",
            "requested_value": "-",
            "message": "not supported. Restore it.",
            "current_value": "c5.large",
        }
    ]


def test_a_request_that_cannot_be_judged_is_bad() -> None:
    assert json.loads(str(bad_request("Cluster c already exists."))) == {
        "message": "Bad Request: Cluster c already exists."
    }
