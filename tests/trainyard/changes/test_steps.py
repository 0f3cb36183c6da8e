"""The engine's events become one step for each resource."""

import json

from tests.support.steps import event
from trainyard.changes.steps import is_end_of_run, steps_of_events

TYPE = "aws:eks/nodeGroup:NodeGroup"
URN = f"urn:pulumi:p5-cb::trainyard::{TYPE}::p5-cb-p5-node-group"
OLD = {"id": "p5-cb:p5", "inputs": {"subnetIds": ["subnet-1"]}}
NEW = {"inputs": {"subnetIds": ["subnet-2"]}}
DIFF = {"subnetIds": {"diffKind": "update-replace"}, "labels": {"diffKind": "update"}}


def test_the_steps_of_a_replacement_are_one_with_its_reasons():
    found = steps_of_events(
        [
            event("delete-replaced", URN, TYPE, old=OLD),
            event("replace", URN, TYPE, old=OLD, new=NEW, detailedDiff=DIFF),
            event("create-replacement", URN, TYPE, new=NEW, keys=["subnetIds"]),
        ]
    )
    (step,) = found
    assert (step.operation, step.identifier, step.reasons) == (
        "replace",
        "p5-cb:p5",
        ("subnetIds",),
    )
    assert (step.old, step.new) == (OLD["inputs"], NEW["inputs"])
    assert step.changed_properties == ("labels", "subnetIds")
    assert step.name == "p5-cb-p5-node-group"


def test_without_details_the_engine_names_the_properties_that_differ():
    (step,) = steps_of_events([event("update", URN, TYPE, old=OLD, new=NEW, diffs=["subnetIds"])])
    assert step.changed_properties == ("subnetIds",)


def test_what_outlives_its_removal_is_known():
    (step,) = steps_of_events([event("delete", URN, TYPE, old={**OLD, "retainOnDelete": True})])
    assert step.operation == "delete"
    assert step.retained


def test_other_events_and_reads_are_no_steps():
    lines = [
        json.dumps({"preludeEvent": {"config": {}}}),
        json.dumps({"resOutputsEvent": {"metadata": {"op": "delete", "urn": URN}}}),
        event("read", URN, TYPE),
        "",
    ]
    assert steps_of_events(lines) == ()


def test_the_end_of_a_run_is_seen():
    assert is_end_of_run('{"sequence":9,"timestamp":1795303249,"cancelEvent":{}}')
    assert not is_end_of_run(event("same", URN, TYPE))
