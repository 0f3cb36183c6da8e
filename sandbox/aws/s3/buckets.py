"""What moto ignores of buckets: tags in their creation, and conditions in their policies.

https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import xmltodict


def with_tags(put: Callable[..., Any]) -> Callable[..., Any]:
    """Return moto's handler of PUT requests for buckets, with the tags of a new bucket."""

    def handle(
        response: Any, request: Any, bucket_name: str, querystring: Mapping[str, Any]
    ) -> Any:
        answer = put(response, request, bucket_name, querystring)
        tags = _tags(response.body)
        if tags:
            response.backend.put_bucket_tagging(bucket_name, tags)
        return answer

    return handle


_PLAIN = {"Bool": {"aws:SecureTransport": "false"}}
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html"""


def over_tls(get_permission: Callable[..., Any]) -> Callable[..., Any]:
    """Return moto's evaluation of a bucket's policy, for which every request here is one over TLS.

    moto applies a statement whatever its condition is.
    """

    def permission(bucket: Any, action: str, resource: str) -> Any:
        whole = bucket.policy
        bucket.policy = _for_tls(whole)
        try:
            return get_permission(bucket, action, resource)
        finally:
            bucket.policy = whole

    return permission


def _for_tls(policy: bytes | None) -> bytes | None:
    if policy is None:
        return None
    document: dict[str, Any] = json.loads(policy)
    statements: list[dict[str, Any]] = document["Statement"]
    applied = [each for each in statements if each.get("Condition") != _PLAIN]
    return json.dumps({**document, "Statement": applied}).encode() if applied else None


def _tags(body: Any) -> dict[str, str]:
    if not body or b"<CreateBucketConfiguration" not in _bytes(body):
        return {}
    configuration = xmltodict.parse(body, force_list=("Tag",))["CreateBucketConfiguration"]
    tags = (configuration.get("Tags") or {}).get("Tag", [])
    return {tag["Key"]: tag["Value"] or "" for tag in tags}


def _bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else str(body).encode()
