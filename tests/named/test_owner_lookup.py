"""Owners of names that are in use, from the sandbox's account."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from trainyard.components.named import lookup  # isort: skip
from trainyard.components.named.lookup import NotReadError  # isort: skip
from trainyard.components.tagging import CLUSTER_TAG, RESOURCE_TAG, creator_of  # isort: skip

TAGS = {CLUSTER_TAG: "mine", RESOURCE_TAG: "dev::trainyard::type::name"}


@pytest.mark.parametrize(
    "look_up",
    [
        lookup.look_up_cluster_owner,
        lookup.look_up_repository_owner,
        lookup.look_up_queue_owner,
        lookup.look_up_definition_owner,
        lookup.look_up_stack_owner,
        lookup.look_up_group_owner,
        lookup.look_up_log_group_owner,
    ],
)
def test_a_name_that_is_free_has_no_owner(reader, look_up):
    assert look_up(reader, "free") is None
    assert reader.not_read() == ()


def test_a_repository_is_read_with_its_tags(reader):
    tags = [{"Key": key, "Value": value} for key, value in TAGS.items()]
    reader.client("ecr").create_repository(repositoryName="mine", tags=tags)
    found = lookup.look_up_repository_owner(reader, "mine")
    assert found is not None
    assert found.tags == TAGS
    assert found.arn.endswith(":repository/mine")
    foreign = lookup.look_up_repository_owner(reader, "team-images")
    assert foreign is not None
    assert creator_of(foreign.tags) is None


def test_a_resource_group_is_read_with_its_tags(reader):
    found = lookup.look_up_group_owner(reader, "p4de-reservations")
    assert found is not None
    assert creator_of(found.tags) is None


def test_a_log_group_is_read_with_its_tags_and_retention(reader):
    logs = reader.client("logs")
    for name in ("/aws/eks/mine/cluster-2", "/aws/eks/mine/cluster"):
        logs.create_log_group(logGroupName=name, tags=TAGS)
    found = lookup.look_up_log_group_owner(reader, "/aws/eks/mine/cluster")
    assert found is not None
    assert found.arn.endswith(":log-group:/aws/eks/mine/cluster")
    assert (found.tags, found.retention_days) == (TAGS, 0)
    assert abs(found.created_at - datetime.now(UTC)) < timedelta(minutes=5)
    logs.put_retention_policy(logGroupName="/aws/eks/mine/cluster", retentionInDays=30)
    again = lookup.look_up_log_group_owner(reader, "/aws/eks/mine/cluster")
    assert again is not None
    assert again.retention_days == 30
    assert lookup.look_up_log_group_owner(reader, "/aws/eks/mine/clust") is None


class Fake:
    """A reader with clients that answer from a table."""

    region = "us-west-2"

    def __init__(self, **answers):
        self.answers = answers

    def client(self, _service):
        return self

    @property
    def eks(self):
        return self

    @property
    def ec2(self):
        return self

    def __getattr__(self, name):
        return lambda **_arguments: self.answers[name]

    def ask(self, _call, do, *, if_denied, **arguments):
        try:
            return do(**arguments)
        except ClientError:
            return if_denied


def cluster(**tags):
    return {"cluster": {"arn": "arn", "status": "ACTIVE", "tags": tags}}


def template(stack, name="mine"):
    tags = {CLUSTER_TAG: name, RESOURCE_TAG: f"{stack}::trainyard::type::name"}
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


@pytest.mark.parametrize(
    ("templates", "stack"),
    [
        ([template("dev"), template("dev")], "dev"),
        ([template("dev"), template("prod")], ""),
        ([template("prod", "another")], ""),
        ([], ""),
    ],
)
def test_launch_templates_tell_the_stack_of_a_cluster(templates, stack):
    answers = {
        "describe_cluster": cluster(**{CLUSTER_TAG: "mine"}),
        "describe_launch_templates": {"LaunchTemplates": templates},
    }
    found = lookup.look_up_cluster_owner(Fake(**answers), "mine")
    assert found is not None
    assert creator_of(found.tags) == (stack, "mine")


def test_a_foreign_cluster_is_not_asked_for_templates():
    found = lookup.look_up_cluster_owner(Fake(describe_cluster=cluster()), "mine")
    assert found is not None
    assert creator_of(found.tags) is None


def test_the_newest_revision_of_a_job_definition_counts():
    revisions = [
        {"jobDefinitionArn": "arn:1", "revision": 1, "tags": {}},
        {"jobDefinitionArn": "arn:2", "revision": 2, "tags": TAGS},
    ]
    answers = {"describe_job_definitions": {"jobDefinitions": revisions}}
    found = lookup.look_up_definition_owner(Fake(**answers), "mine")
    assert found is not None
    assert (found.arn, found.tags) == ("arn:2", TAGS)


def test_a_name_that_may_not_be_asked_for_is_unknown(reader):
    class Denied(Fake):
        def ask(self, _call, _do, *, if_denied, **_arguments):
            return if_denied

    with pytest.raises(NotReadError):
        lookup.look_up_queue_owner(Denied(describe_job_queues={}), "mine")
