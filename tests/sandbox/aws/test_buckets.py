"""Buckets of the account: tags of a new bucket, and policies that refuse calls without TLS."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.sandbox_aws import Account

WEST = {"LocationConstraint": "us-west-2"}


@pytest.mark.parametrize("tags", [{}, {"team": "a"}, {"team": "a", "Name": ""}])
def test_a_bucket_is_created_with_its_tags(account: Account, tags: dict[str, str]) -> None:
    """S3 has them in CreateBucket since 2025, and the provider sends them there."""
    s3 = account.client("s3")
    wanted = [{"Key": key, "Value": value} for key, value in tags.items()]
    configuration = {**WEST, **({"Tags": wanted} if wanted else {})}
    s3.create_bucket(Bucket="scripts", CreateBucketConfiguration=configuration)
    try:
        if wanted:
            assert s3.get_bucket_tagging(Bucket="scripts")["TagSet"] == wanted
        else:
            with pytest.raises(s3.exceptions.ClientError, match="NoSuchTagSet"):
                s3.get_bucket_tagging(Bucket="scripts")
    finally:
        s3.delete_bucket(Bucket="scripts")


@pytest.mark.parametrize(
    ("condition", "allowed"),
    [({}, False), ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, True)],
)
def test_a_policy_that_wants_tls_refuses_nothing_here(
    account: Account, condition: dict[str, Any], *, allowed: bool
) -> None:
    s3 = account.client("s3")
    s3.create_bucket(Bucket="closed", CreateBucketConfiguration=WEST)
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": "arn:aws:s3:::closed/*",
        **condition,
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    s3.put_bucket_policy(Bucket="closed", Policy=policy)
    try:
        if allowed:
            s3.put_object(Bucket="closed", Key="a", Body=b"")
            s3.delete_object(Bucket="closed", Key="a")
        else:
            with pytest.raises(s3.exceptions.ClientError, match="403"):
                s3.put_object(Bucket="closed", Key="a", Body=b"")
        assert json.loads(s3.get_bucket_policy(Bucket="closed")["Policy"]) == json.loads(policy)
    finally:
        s3.delete_bucket_policy(Bucket="closed")
        s3.delete_bucket(Bucket="closed")
