"""Differences between two cluster configurations."""

from __future__ import annotations

import pytest

from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.update_verdicts import changes, same, scalar


def keys(old, new):
    return [(*change.path, change.key, change.item) for change in changes(old, new)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4", 4),
        ("true", True),
        (["subnet-1"], [Reference("subnet", "private-a")]),
        ("s3://bucket-1/scripts/a-12.sh", Reference("node-script", "scripts/a-12.sh")),
        ({"JobCompType": "1"}, {"JobCompType": 1}),
        ("0.5", 0.5),
    ],
)
def test_what_cloudformation_makes_text_of_is_the_same(old, new):
    assert same(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4", 5),
        ("true", False),
        (None, Reference("subnet", "private-a")),
        ("s3://bucket-1/scripts/a-34.sh", Reference("node-script", "scripts/a-12.sh")),
        ("https://example.com/scripts/a-12.sh", Reference("node-script", "scripts/a-12.sh")),
        (["subnet-1"], [Reference("subnet", "private-a"), Reference("subnet", "private-b")]),
        ({"a": "1"}, {"a": "1", "b": "2"}),
        ("subnet-1", ["subnet-1"]),
    ],
)
def test_other_values_differ(old, new):
    assert not same(old, new)


def test_booleans_become_text_as_in_yaml():
    assert (scalar(True), scalar(False), scalar(3), scalar("x")) == ("true", "false", "3", "x")


def test_items_of_a_list_are_compared_by_name_and_not_by_place():
    old = {"Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]}
    new = {"Tags": [{"Key": "b", "Value": "2"}, {"Key": "a", "Value": "3"}]}
    assert keys(old, new) == [("Tags", "a", "Value", None)]


def test_items_that_come_and_go_are_one_change_each():
    old = {"SharedStorage": [{"Name": "old", "MountDir": "/old", "StorageType": "Ebs"}]}
    new = {"SharedStorage": [{"Name": "new", "MountDir": "/new", "StorageType": "Ebs"}]}
    assert keys(old, new) == [("SharedStorage", "new"), ("SharedStorage", "old")]


def test_the_bucket_of_the_scripts_is_the_one_that_nodes_may_read_already():
    read = {"KeyName": "node-scripts/*", "EnableWriteAccess": "false"}
    old = {"BucketName": "parallelcluster-scripts-1", **read}
    new = {"BucketName": Reference("script-bucket", "node-scripts/*"), **read}
    other = {"BucketName": "data", "EnableWriteAccess": False}
    deployed = {"HeadNode": {"Iam": {"S3Access": [other, old]}}}
    assert keys(deployed, {"HeadNode": {"Iam": {"S3Access": [other, new]}}}) == []
    added = keys(
        {"HeadNode": {"Iam": {"S3Access": [other]}}},
        {"HeadNode": {"Iam": {"S3Access": [other, new]}}},
    )
    assert added == [("HeadNode", "Iam", "S3Access", "node-scripts/*")]


def test_a_section_that_goes_is_one_change_unless_its_own_policy_says_nothing():
    scripts = {"OnNodeStart": {"Sequence": [{"Script": "s3://bucket/script"}]}}
    old = {"HeadNode": {"Iam": {"InstanceRole": "arn"}, "CustomActions": scripts}}
    assert keys(old, {"HeadNode": {"InstanceType": None}}) == [
        ("HeadNode", "CustomActions", "OnNodeStart", None),
        ("HeadNode", "Iam", None),
    ]


def test_a_change_within_a_queue_knows_it():
    old = {"Scheduling": {"SlurmQueues": [{"Name": "gpu", "CapacityType": "SPOT"}]}}
    new = {"Scheduling": {"SlurmQueues": [{"Name": "gpu", "CapacityType": "ONDEMAND"}]}}
    (change,) = changes(old, new)
    assert change.is_in_a_queue
    assert change.path == ("Scheduling", "SlurmQueues", "gpu")
