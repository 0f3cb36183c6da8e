"""A private bucket with texts that nodes read.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, slots=True, kw_only=True)
class TextObject:
    """An object of a bucket."""

    key: str
    text: str
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateBucketArgs:
    """Arguments of `PrivateBucket`."""

    prefix: str
    """Beginning of the bucket's name, at most 37 lowercase characters. Names of buckets are unique
    in the world, so the provider completes it."""
    objects: Mapping[str, TextObject]
    """By the end of the resource name."""
    tags: Mapping[str, str]


class PrivateBucket(pulumi.ComponentResource):
    """A bucket that is closed to the public, encrypted, and open to TLS only.

    It holds copies of texts of the program only, so that its deletion empties it.

    Children: `<name>` (`aws.s3.Bucket`), `<name>-public-access`
    (`aws.s3.BucketPublicAccessBlock`), `<name>-ownership` (`aws.s3.BucketOwnershipControls`),
    `<name>-encryption` (`aws.s3.BucketServerSideEncryptionConfiguration`), `<name>-policy`
    (`aws.s3.BucketPolicy`), and `<name>-<object>` (`aws.s3.BucketObjectv2`) for each object.
    """

    bucket: pulumi.Output[str]
    """Name of the bucket."""
    addresses: Mapping[str, pulumi.Output[str]]
    """`s3://` addresses of the objects, by key."""
    ready: tuple[pulumi.Resource, ...]
    """What must exist before somebody reads an object."""

    def __init__(
        self, name: str, args: PrivateBucketArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:storage:PrivateBucket", name, {}, opts)
        made = aws.s3.Bucket(
            name,
            bucket_prefix=args.prefix,
            force_destroy=True,
            tags={"Name": name, **args.tags},
            opts=pulumi.ResourceOptions(parent=self),
        )
        policy, settings = self._close(name, made)
        objects = {
            each.key: aws.s3.BucketObjectv2(
                f"{name}-{end}",
                bucket=made.id,
                key=each.key,
                content=each.text,
                content_type=each.content_type,
                opts=pulumi.ResourceOptions(parent=self, depends_on=settings),
            )
            for end, each in args.objects.items()
        }
        self.bucket = made.id
        self.addresses = {
            key: pulumi.Output.concat("s3://", made.id, "/", each.key)
            for key, each in objects.items()
        }
        self.ready = (policy, *objects.values())
        self.register_outputs({"bucket": self.bucket})

    def _close(
        self, name: str, bucket: aws.s3.Bucket
    ) -> tuple[pulumi.Resource, list[pulumi.Resource]]:
        """Return the policy, and the settings that exist before the first object."""
        child = pulumi.ResourceOptions(parent=self)
        closed = aws.s3.BucketPublicAccessBlock(
            f"{name}-public-access",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child,
        )
        owned = aws.s3.BucketOwnershipControls(
            f"{name}-ownership",
            bucket=bucket.id,
            rule={"object_ownership": "BucketOwnerEnforced"},
            opts=child,
        )
        encrypted = aws.s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption",
            bucket=bucket.id,
            rules=[
                {
                    "apply_server_side_encryption_by_default": {"sse_algorithm": "AES256"},
                    # For keys of KMS only; S3 answers with it, also if it was not set.
                    "bucket_key_enabled": False,
                }
            ],
            opts=child,
        )
        # S3 refuses a second change of a bucket's access while it makes the first one.
        policy = aws.s3.BucketPolicy(
            f"{name}-policy",
            bucket=bucket.id,
            policy=bucket.arn.apply(_only_tls),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[closed]),
        )
        return policy, [owned, encrypted]


def _only_tls(bucket_arn: str) -> str:
    """Return the policy that refuses every call without TLS."""
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "OnlyTls",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": [bucket_arn, f"{bucket_arn}/*"],
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ],
        }
    )
