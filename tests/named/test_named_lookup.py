"""Objects that a stack file names, from the sandbox's account."""

from __future__ import annotations

import json

import pytest

from trainyard.components.named import lookup  # isort: skip
from trainyard.components.named.facts import PolicyFacts, TopicFacts, WorkspaceFacts  # isort: skip
from trainyard.components.named.lookup import NotReadError, find  # isort: skip

from tests.support.monitoring import WORKSPACE_ARN

KEYS = "arn:aws:kms:us-west-2:123456789012:key/0a000000-0000-4000-8000-00000000000"
OWN_POLICIES = "arn:aws:iam::123456789012:policy"
REGISTRY = "123456789012.dkr.ecr.us-west-2.amazonaws.com"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("AmazonSSMManagedInstanceCore", "AmazonSSMManagedInstanceCore"),
        ("service-role/AmazonEBSCSIDriverPolicy", "service-role/AmazonEBSCSIDriverPolicy"),
        ("AmazonEBSCSIDriverPolicy", "service-role/AmazonEBSCSIDriverPolicy"),
        ("job-function/AmazonS3ReadOnlyAccess", "AmazonS3ReadOnlyAccess"),
        (f"{OWN_POLICIES}/team/ReadData", f"{OWN_POLICIES}/team/ReadData"),
    ],
)
def test_a_policy_is_found_at_its_own_path_or_another(reader, name, found):
    assert lookup.look_up_policy(reader, name) == PolicyFacts(name=found, attachable=True)


def test_a_policy_that_aws_does_not_have_is_none(reader):
    assert lookup.look_up_policy(reader, "MyManagedPolicy") is None
    # A customer managed policy with the name of an AWS managed one is another policy.
    assert lookup.look_up_policy(reader, f"{OWN_POLICIES}/AmazonS3ReadOnlyAccess") is None
    assert reader.not_read() == ()


@pytest.mark.parametrize(
    ("number", "state", "usage"),
    [
        (1, "Enabled", "ENCRYPT_DECRYPT"),
        (2, "Disabled", "ENCRYPT_DECRYPT"),
        (3, "PendingDeletion", "ENCRYPT_DECRYPT"),
        (4, "Enabled", "SIGN_VERIFY"),
    ],
)
def test_a_key_is_read_with_its_state_and_usage(reader, number, state, usage):
    found = lookup.look_up_kms_key(reader, f"{KEYS}{number}")
    assert found is not None
    assert (found.state, found.usage) == (state, usage)


def test_a_key_that_does_not_exist_is_none(reader):
    assert lookup.look_up_kms_key(reader, f"{KEYS}9") is None


@pytest.mark.parametrize(
    ("look_up", "name"),
    [
        (lookup.look_up_kms_key, f"{KEYS}1".replace("us-west-2", "us-east-1")),
        (lookup.look_up_kms_key, f"{KEYS}1".replace("arn:aws:", "arn:aws-cn:")),
        (
            lookup.look_up_function,
            "arn:aws:lambda:us-east-1:123456789012:function:provider",
        ),
        (lookup.look_up_script, "docker"),
        (lookup.look_up_script, "https://example.com/script.sh"),
        (lookup.look_up_script, "s3://trainyard-sandbox-scripts"),
        (lookup.look_up_container_image, "nccl-tests"),
        (lookup.look_up_container_image, "public.ecr.aws/hpc-cloud/nccl-tests:1"),
        (
            lookup.look_up_container_image,
            f"{REGISTRY}/team-images:1".replace("us-west-2", "us-east-1"),
        ),
    ],
)
def test_what_is_not_of_this_account_or_region_is_not_asked_for(reader, look_up, name):
    with pytest.raises(NotReadError):
        look_up(reader, name)
    assert reader.not_read() == ()


@pytest.mark.parametrize("name", ["p4de-reserved", "apart"])
def test_a_placement_group_is_read_with_its_strategy(reader, name):
    found = lookup.look_up_placement_group(reader, name)
    assert found is not None
    assert found.state == "available"
    assert found.strategy == {"p4de-reserved": "cluster", "apart": "spread"}[name]


def test_a_placement_group_that_does_not_exist_is_none(reader):
    assert lookup.look_up_placement_group(reader, "gone") is None


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("trainyard-sandbox-data", "us-west-2"),
        ("s3://trainyard-sandbox-data/imagenet/", "us-west-2"),
        ("s3://trainyard-sandbox-east", "us-east-1"),
    ],
)
def test_a_bucket_is_read_with_its_region(reader, name, region):
    found = lookup.look_up_bucket(reader, name)
    assert found is not None
    assert found.region == region


def test_a_bucket_that_does_not_exist_is_none(reader):
    assert lookup.look_up_bucket(reader, "s3://trainyard-sandbox-dta/x") is None


def test_a_script_is_an_object_with_content(reader):
    found = lookup.look_up_script(reader, "s3://trainyard-sandbox-scripts/post-install.sh")
    assert found is not None
    assert found.size_bytes > 0


@pytest.mark.parametrize("key", ["trainyard-sandbox-scripts/gone.sh", "trainyard-gone/a.sh"])
def test_a_script_that_does_not_exist_is_none(reader, key):
    assert lookup.look_up_script(reader, f"s3://{key}") is None


def test_an_access_point_is_read_with_its_file_system(reader):
    found = lookup.look_up_access_point(reader, "fsap-0ef50000000000001")
    assert found is not None
    assert (found.file_system_id, found.state) == ("fs-0ef50000000000001", "available")
    assert lookup.look_up_access_point(reader, "fsap-0ef50000000000009") is None


@pytest.mark.parametrize("image", ["team-images:1.0", "gone:1.0", f"team-images@sha256:{'0' * 64}"])
def test_an_image_that_a_repository_does_not_have_is_none(reader, image):
    assert lookup.look_up_container_image(reader, f"{REGISTRY}/{image}") is None


def test_a_call_that_fails_says_why_and_is_no_answer(reader):
    def fails(**_arguments):
        raise ValueError("not JSON")

    with pytest.raises(NotReadError):
        find(reader, "kms:DescribeKey", fails, KeyId="x")
    assert reader.not_read()[0].startswith("kms:DescribeKey: ")


def test_an_image_without_a_tag_is_the_one_that_docker_pulls(reader, monkeypatch):
    asked = []
    ecr = reader.client("ecr")
    monkeypatch.setattr(ecr, "describe_images", lambda **arguments: asked.append(arguments))
    assert lookup.look_up_container_image(reader, f"{REGISTRY}/team-images") is None
    assert asked[0]["imageIds"] == [{"imageTag": "latest"}]


def test_a_topic_is_read_with_its_publishers_and_its_key(reader, account):
    sns = account.client("sns")
    arn = sns.create_topic(Name="ml-infra", Attributes={"KmsMasterKeyId": "alias/ml"})["TopicArn"]
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["events.amazonaws.com"]},
                "Action": ["SNS:Publish"],
                "Resource": arn,
            },
            {
                "Effect": "Allow",
                "Principal": {"Service": "s3.amazonaws.com"},
                "Action": "sns:GetTopicAttributes",
                "Resource": arn,
            },
            {"Effect": "Deny", "Principal": "*", "Action": "sns:*", "Resource": arn},
        ],
    }
    sns.set_topic_attributes(
        TopicArn=arn, AttributeName="Policy", AttributeValue=json.dumps(policy)
    )
    found = lookup.look_up_topic(reader, arn)
    assert found == TopicFacts(publishers=frozenset({"events.amazonaws.com"}), kms_key="alias/ml")
    assert lookup.look_up_topic(reader, f"{arn}-2") is None
    assert reader.not_read() == ()


def test_a_workspace_is_one_of_this_account(reader):
    assert lookup.look_up_workspace(reader, WORKSPACE_ARN) == WorkspaceFacts(status="ACTIVE")
    assert lookup.look_up_workspace(reader, f"{WORKSPACE_ARN[:-1]}9") is None
    foreign = WORKSPACE_ARN.replace("123456789012", "210987654321")
    assert lookup.look_up_workspace(reader, foreign) is None
    assert reader.not_read() == ()


def test_a_workspace_of_another_region_is_not_looked_up(reader):
    with pytest.raises(NotReadError):
        lookup.look_up_workspace(reader, WORKSPACE_ARN.replace("us-west-2", "us-east-1"))
