"""The plan of a stack is read from the event log of the engine's preview."""

from __future__ import annotations

import json

from trainyard.engine.preview import (
    SECRET_MARKER,
    UNKNOWN_MARKER,
    plan_of_events,
    readable,
)

STACK = "urn:pulumi:p5-cb::trainyard::pulumi:pulumi:Stack::trainyard-p5-cb"
PARENT = "urn:pulumi:p5-cb::trainyard::trainyard:eks:EksCluster::p5-cb"
CHILD = "urn:pulumi:p5-cb::trainyard::trainyard:eks:EksCluster$aws:iam/role:Role::p5-cb-role"
UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "…"}


def planned(urn: str, kind: str, **more: object) -> str:
    state = {"urn": urn, "type": kind, **more}
    return json.dumps({"resourcePreEvent": {"metadata": {"op": "create", "new": state}}})


def ended(urn: str, kind: str, outputs: dict[str, object]) -> str:
    state = {"urn": urn, "type": kind, "outputs": outputs}
    return json.dumps({"resOutputsEvent": {"metadata": {"op": "create", "new": state}}})


STACK_TYPE = "pulumi:pulumi:Stack"
ROLE = {
    "name": "p5-cb-role-0a1b2c3",
    "policy": UNKNOWN_TEXT,
    "secrets": [SECRET, "[secret]"],
    "path": "/",
}
EVENTS = "\n".join(
    [
        planned(STACK, STACK_TYPE),
        ended(STACK, STACK_TYPE, {}),
        planned(PARENT, "trainyard:eks:EksCluster", parent=STACK),
        planned(CHILD, "aws:iam/role:Role", parent=PARENT, inputs=ROLE),
        json.dumps({"diagnosticEvent": {"message": "beside the point"}}),
        ended(
            STACK,
            STACK_TYPE,
            {"kubeconfig": "[secret]", "role": "p5-cb-role-0a1b2c3", "cluster_name": "p5-cb"},
        ),
        json.dumps({"resourcePreEvent": {"metadata": {"op": "delete", "new": None}}}),
    ]
)


def test_resources_stand_with_name_parent_and_inputs() -> None:
    plan = plan_of_events(EVENTS, stack="p5-cb")
    assert plan["resources"] == [
        {
            "type": "aws:iam/role:Role",
            "name": "p5-cb-role",
            "parent": "trainyard:eks:EksCluster::p5-cb",
            "inputs": {
                "name": "p5-cb-role-<random>",
                "policy": UNKNOWN_MARKER,
                "secrets": [SECRET_MARKER, SECRET_MARKER],
                "path": "/",
            },
        },
        {"type": "trainyard:eks:EksCluster", "name": "p5-cb", "parent": None, "inputs": {}},
    ]


def test_outputs_are_those_of_the_stack_when_it_is_complete() -> None:
    plan = plan_of_events(EVENTS, stack="p5-cb")
    assert plan["outputs"] == {
        "kubeconfig": SECRET_MARKER,
        "role": "p5-cb-role-<random>",
        "cluster_name": "p5-cb",
    }


def test_a_name_may_hold_the_separator_of_urns() -> None:
    urn = "urn:pulumi:p5-cb::trainyard::kubernetes:core/v1:ConfigMap::kube-system::aws-auth"
    event = planned(urn, "kubernetes:core/v1:ConfigMap", parent=STACK)
    plan = plan_of_events(event, stack="p5-cb")
    assert plan["resources"][0]["name"] == "kube-system::aws-auth"


def test_plain_values_stay_as_they_are() -> None:
    assert readable({"a": [1, None, True, "text"]}) == {"a": [1, None, True, "text"]}
