"""The sandbox's account as the resources see it: clients, region, ids."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from sandbox.providers.aws.retries import retry_as_the_provider

# Dummies: the sandbox reads no credential, and boto3 signs with something.
CREDENTIALS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}


class Account:
    """One region of the sandbox's account."""

    def __init__(self, *, endpoint: str, region: str) -> None:
        """Remember where to call; clients are made when they are first used."""
        self.endpoint = endpoint
        self.region = region
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        # Clients are safe to share between threads, the making of them is not.
        with self._lock:
            if service not in self._clients:
                client: Any = boto3.client(
                    service,
                    region_name=self.region,
                    endpoint_url=self.endpoint,
                    config=Config(retries={"total_max_attempts": 1}, proxies={}),
                    **CREDENTIALS,
                )
                retry_as_the_provider(client)
                self._clients[service] = client
            return self._clients[service]

    @cached_property
    def account_id(self) -> str:
        """Id of the account."""
        return self.client("sts").get_caller_identity()["Account"]

    @property
    def partition(self) -> str:
        """AWS partition of the region."""
        prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
        return next((p for start, p in prefixes.items() if self.region.startswith(start)), "aws")

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of this region and account."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account_id}:{resource}"


def is_missing(error: Exception) -> bool:
    """Return whether an error says that the object does not exist."""
    if not isinstance(error, ClientError):
        return False
    code = error.response.get("Error", {}).get("Code", "")
    message = error.response.get("Error", {}).get("Message", "")
    return (
        code.endswith(("NotFound", "NotFoundException", ".Unknown", "NotFoundFault"))
        or code in {"NoSuchEntity", "InvalidGroup.NotFound", "InvalidPlacementGroup.Unknown"}
        or (code == "ValidationError" and "not found" in message)
    )


def tag_list(tags: dict[str, str] | None) -> list[dict[str, str]]:
    """Return tags as most of AWS wants them."""
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def tag_specifications(resource_type: str, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tags of a resource's inputs as EC2 wants them in a creation."""
    tags = tag_list(inputs.get("tags"))
    return [{"ResourceType": resource_type, "Tags": tags}] if tags else []


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str]:
    """Return tags as Pulumi has them."""
    return {tag["Key"]: tag["Value"] for tag in tags or []}


def removed_tags(olds: dict[str, Any], news: dict[str, Any]) -> list[str]:
    """Return the keys of the tags that a change of a resource's inputs takes away."""
    return sorted((olds.get("tags") or {}).keys() - (news.get("tags") or {}).keys())


def retag_ec2(
    account: Account, identifier: str, olds: dict[str, Any], news: dict[str, Any]
) -> None:
    """Bring the tags of an EC2 object from what they were to what is wanted."""
    ec2 = account.client("ec2")
    gone = removed_tags(olds, news)
    if gone:
        ec2.delete_tags(Resources=[identifier], Tags=[{"Key": key} for key in gone])
    if news.get("tags"):
        ec2.create_tags(Resources=[identifier], Tags=tag_list(news["tags"]))
