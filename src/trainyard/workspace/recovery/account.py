"""Read-only clients for lookups in the account, and shared helpers for their responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from botocore.exceptions import ClientError

from trainyard.components.account.session import AccountSession
from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.tagging import RESOURCE_TAG, resource_tag
from trainyard.workspace.recovery.operations import PendingCreate


class ObjectProgress(Enum):
    """How far AWS has processed an object."""

    READY = "ready"
    MAKING = "making"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object in the account that a pending create may have created."""

    identifier: str
    """Id in the provider's form."""
    progress: ObjectProgress = ObjectProgress.READY
    said: str = ""
    """State as AWS reports it, if the object is not ready."""
    tags: Mapping[str, str] | None = field(default=None, hash=False)
    """Tags, if the lookup was not by tag; None if the type has no tags."""


class LookupAccount:
    """A region of an account, read-only."""

    def __init__(self, region: str, settings: ProviderSettings = OF_ENVIRONMENT) -> None:
        """Create the session without calling AWS.

        Args:
            region: The region.
            settings: How the account is reached; by default with what the environment has.
        """
        self._session = AccountSession(settings, region=region)
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        if service not in self._clients:
            self._clients[service] = self._session.client(service)
        return self._clients[service]

    def all(self, service: str, operation: str, key: str, **arguments: Any) -> list[Any]:
        """Return the items of all pages of a response.

        Empty if the response says that the parent object does not exist.
        """
        client = self.client(service)
        try:
            if client.can_paginate(operation):
                pages = client.get_paginator(operation).paginate(**arguments)
                return [item for page in pages for item in page.get(key) or []]
            return list(getattr(client, operation)(**arguments).get(key) or [])
        except ClientError as error:
            if is_missing(error):
                return []
            raise

    def one(self, service: str, operation: str, key: str, **arguments: Any) -> Any | None:
        """Return the object in a response; None if it does not exist."""
        try:
            return getattr(self.client(service), operation)(**arguments).get(key)
        except ClientError as error:
            if is_missing(error):
                return None
            raise


def is_missing(error: ClientError) -> bool:
    """Return whether AWS says that an object does not exist."""
    fault = error.response.get("Error", {})
    code, message = fault.get("Code", ""), fault.get("Message", "")
    return (
        code == "NoSuchEntity"
        or code.endswith((".NotFound", "NotFoundException", "NotFound", ".Unknown"))
        or (code == "ValidationError" and ("does not exist" in message or "not found" in message))
    )


def tag_of(create: PendingCreate) -> str:
    """Return the tag that identifies the object of a create."""
    return resource_tag(
        stack=create.stack,
        project=create.project,
        type_token=create.type_token,
        name=create.name,
    )


def tag_map(
    tags: Iterable[Mapping[str, str]] | None, key: str = "Key", value: str = "Value"
) -> dict[str, str]:
    """Return tags as a mapping."""
    return {tag[key]: tag[value] for tag in tags or ()}


def requested_tags(create: PendingCreate) -> dict[str, str]:
    """Return the tags in the inputs of a create; empty if it has none."""
    tags = create.inputs.get("tags")
    if isinstance(tags, list):
        return tag_map(tags, "key", "value")
    return dict(tags or {})


def is_tagged(create: PendingCreate) -> bool:
    """Return whether the object of a create carries the identifying tag.

    Creates from program versions before this tag do not.
    """
    return requested_tags(create).get(RESOURCE_TAG) == tag_of(create)


Look = Callable[[LookupAccount, PendingCreate], list[FoundObject]]
"""Finds the objects that a create may have created."""


def progress(
    status: str, *, making: Iterable[str] = (), failed: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the fields of `Found` that follow from a status."""
    if status in making:
        return {"progress": ObjectProgress.MAKING, "said": status}
    if status in failed:
        return {"progress": ObjectProgress.FAILED, "said": status}
    return {}
