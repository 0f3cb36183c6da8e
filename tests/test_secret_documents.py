"""Documents for others have no secrets, and nothing that is given to programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.secret_forms import (
    CHOSEN,
    DOCUMENTS,
    ENCODED,
    SHOWN_DOCUMENTS,
    SHOWN_TEXTS,
    TEXTS,
    Planted,
)
from trainyard.components.plain_text import legible, printable
from trainyard.components.secret_documents import LEFT_OUT, hidden, hidden_at, shareable, value_in
from trainyard.components.secret_text import HIDDEN, without_secrets


def test_the_forms_are_many_and_differ() -> None:
    assert len({each.id for each in TEXTS}) == len(TEXTS)
    assert len(TEXTS) + len(DOCUMENTS) > 100
    assert all(each.secret in each.text for each in TEXTS)


@pytest.mark.parametrize("planted", TEXTS, ids=lambda each: each.id)
def test_a_secret_is_hidden_in_every_text(planted: Planted) -> None:
    text, secret = planted.text, planted.secret
    for shown in (without_secrets(text), legible(text), printable(text)):
        assert secret not in shown
        assert HIDDEN in shown
    assert without_secrets(without_secrets(text)) == without_secrets(text)


@pytest.mark.parametrize("planted", TEXTS, ids=lambda each: each.id)
def test_a_secret_is_hidden_in_the_texts_of_a_document(planted: Planted) -> None:
    document = {"message": planted.text, "lines": ["first", planted.text], "a": {"b": planted.text}}
    for written in (document, {"body": json.dumps(document)}):
        assert planted.secret not in json.dumps(hidden(written))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_secret_is_hidden_by_its_place_in_a_document(name: str) -> None:
    document = DOCUMENTS[name]
    for written in (document, [{"x": document}], {"body": json.dumps(document)}):
        shown = json.dumps(hidden(written))
        assert CHOSEN not in shown
        assert not [each for each in ENCODED if each in shown]


def test_a_number_is_a_password() -> None:
    assert hidden({"password": 12345678, "DB_PASS": 1234}) == {
        "password": HIDDEN,
        "DB_PASS": HIDDEN,
    }


def test_a_value_at_a_key_is_hidden_by_the_key() -> None:
    assert hidden_at("db_password", {"first": ["x"]}) == {"first": [HIDDEN]}
    assert hidden_at("team", ["vision"]) == ["vision"]


@pytest.mark.parametrize("text", SHOWN_TEXTS)
def test_what_a_reader_needs_is_shown(text: str) -> None:
    assert without_secrets(text) == text
    assert shareable({"message": text}) == {"message": text}


@pytest.mark.parametrize("document", SHOWN_DOCUMENTS, ids=lambda each: next(iter(each)))
def test_what_a_reader_needs_is_shown_in_documents(document: Any) -> None:
    assert hidden(document) == document
    assert shareable(document) == document


PROGRAM = {
    "name": "train",
    "image": "nvcr.io/nvidia/pytorch:25.10",
    "command": ["sh", "-c", f"echo {CHOSEN}"],
    "args": [CHOSEN],
    "env": [
        {"name": "HARMLESS", "value": CHOSEN},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ],
    "livenessProbe": {"exec": {"command": ["probe", CHOSEN]}},
    "readinessProbe": {"httpGet": {"httpHeaders": [{"name": "X-Any", "value": CHOSEN}]}},
    "lifecycle": {"preStop": {"exec": {"command": ["stop", CHOSEN]}}},
    "resources": {"limits": {"nvidia.com/gpu": "8"}},
}
BATCH = {
    "image": "nvcr.io/nvidia/pytorch:25.10",
    "command": ["train.py", CHOSEN],
    "environment": [{"name": "HARMLESS", "value": CHOSEN}],
    "instanceType": "p5.48xlarge",
}


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
def test_of_a_container_of_kubernetes_the_names_are_left(kind: str) -> None:
    pod = {"kind": "Pod", "metadata": {"name": "train-0"}, "spec": {kind: [PROGRAM]}}
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    pod["metadata"]["annotations"] = {applied: json.dumps(pod), "x": json.dumps(pod)}
    job = {"kind": "Job", "spec": {"template": pod}}
    job_set = {"spec": {"replicatedJobs": [{"template": job}]}}
    for document in (pod, job, job_set):
        assert CHOSEN not in json.dumps(shareable(document))
    (found,) = shareable(pod)["spec"][kind]
    assert found["image"] == "nvcr.io/nvidia/pytorch:25.10"
    assert found["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert found["env"] == [
        {"name": "HARMLESS", "value": LEFT_OUT},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    assert shareable(pod)["metadata"]["annotations"][applied] == LEFT_OUT


@pytest.mark.parametrize(
    "properties",
    [
        {"container": BATCH},
        {"containerProperties": BATCH},
        {"containerOverrides": BATCH},
        {"ecsProperties": {"taskProperties": [{"containers": [BATCH]}]}},
        {
            "eksProperties": {
                "podProperties": {"containers": [PROGRAM], "initContainers": [PROGRAM]}
            }
        },
        {"nodeProperties": {"nodeRangeProperties": [{"targetNodes": "0:", "container": BATCH}]}},
        {"nodeOverrides": {"nodePropertyOverrides": [{"containerOverrides": BATCH}]}},
        {"ecsPropertiesOverride": {"taskProperties": [{"containers": [BATCH]}]}},
        {"parameters": {"harmless": CHOSEN}},
        {"containerDefinitions": [{**BATCH, "entryPoint": [CHOSEN]}]},
        {"containerProperties": json.dumps(BATCH)},
    ],
    ids=lambda each: next(iter(each)),
)
def test_of_a_job_of_batch_and_a_task_of_ecs_the_names_are_left(properties: Any) -> None:
    job = {"jobId": "1", "jobName": "train", "statusReason": "Host EC2 terminated", **properties}
    shown = json.dumps(shareable(job))
    assert CHOSEN not in shown
    assert "Host EC2 terminated" in shown
    assert "parameters" in properties or "nvcr.io/nvidia/pytorch:25.10" in shown
    assert "harmless" in shown.lower()


def test_of_parameters_of_cloudformation_and_of_a_secret_the_names_are_left() -> None:
    stack = {"Parameters": [{"ParameterKey": "Any", "ParameterValue": CHOSEN}]}
    assert shareable(stack) == {"Parameters": [{"ParameterKey": "Any", "ParameterValue": LEFT_OUT}]}
    secret = {"kind": "Secret", "data": {"any": "aHVudGVy"}, "stringData": {"b": CHOSEN}}
    assert shareable(secret) == {
        "kind": "Secret",
        "data": {"any": LEFT_OUT},
        "stringData": {"b": LEFT_OUT},
    }


def test_the_revision_of_an_update_is_no_variable() -> None:
    update = {"kind": "update", "environment": {"git.head": "66337fc4", "exec.kind": "cli"}}
    assert shareable(update) == update


def test_a_value_is_found_below_what_is_left_out() -> None:
    shared = shareable({"command": ["a", "b"], "x": [{"y": "z"}], CHOSEN: 1})
    assert value_in(shared, ("command", 1)) == LEFT_OUT
    assert value_in(shared, ("x", 0, "y")) == "z"
    assert value_in(shareable({"AKIA" + "IOSFODNN7EXAMPLE": {"a": 1}}), ("AKIA", "a")) == HIDDEN


def test_a_deep_document_in_a_text_is_a_text() -> None:
    text = "[" * 100_000
    assert hidden(text) == text
