"""Objects of an account that a stack file only names, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from trainyard.components.compute.facts import PlacementGroupFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFacts:
    """An existing IAM policy."""

    name: str
    """Name of an AWS managed policy with its path, which can differ from the requested path. For a
    customer managed policy, its ARN."""
    attachable: bool
    """`IsAttachable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KmsKeyFacts:
    """An existing KMS key."""

    state: str
    """`KeyState`: `Enabled`, `Disabled`, `PendingDeletion` …"""
    usage: str
    """`KeyUsage`: `ENCRYPT_DECRYPT`, `SIGN_VERIFY` …"""
    spec: str
    """`KeySpec`: `SYMMETRIC_DEFAULT`, `RSA_4096` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFacts:
    """An existing S3 bucket."""

    region: str
    """Empty if S3 does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFacts:
    """An existing object in S3."""

    size_bytes: int
    archived: bool = False
    """Whether it has to be restored before it can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPointFacts:
    """An existing EFS access point."""

    file_system_id: str
    state: str
    """`LifeCycleState`: `available`, `creating`, `deleting` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFacts:
    """An existing Lambda function."""

    state: str
    """`Active`, `Pending`, `Inactive` or `Failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerImageFacts:
    """An existing image in a repository of ECR."""

    status: str = "ACTIVE"
    """`ACTIVE`, `ARCHIVED` or `ACTIVATING`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """An existing SNS topic."""

    publishers: frozenset[str]
    """Service principals that its policy allows to publish, such as `events.amazonaws.com`."""
    kms_key: str | None = None
    """Id, ARN or alias of the key that encrypts its messages; None without encryption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFacts:
    """An existing workspace of Amazon Managed Service for Prometheus."""

    status: str
    """`ACTIVE`, `CREATING`, `UPDATING`, `DELETING` or `CREATION_FAILED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerFacts:
    """An existing object with a name that the stack takes for its own."""

    arn: str
    state: str = ""
    """Its state in the words of the service; empty if it has none."""
    tags: Mapping[str, str]
    """Its tags, which name the stack that created it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGroupFacts(OwnerFacts):
    """An existing log group with a name that the stack takes for its own."""

    retention_days: int
    """Days that it keeps events; 0 is forever."""
    created_at: datetime


Found: TypeAlias = (
    PolicyFacts
    | KmsKeyFacts
    | PlacementGroupFacts
    | BucketFacts
    | ObjectFacts
    | AccessPointFacts
    | FunctionFacts
    | ContainerImageFacts
    | TopicFacts
    | WorkspaceFacts
    | OwnerFacts
)


NamedFacts: TypeAlias = Mapping[tuple[str, str], Found | None]
"""By kind and name: None if the object does not exist. Objects that could not be read are missing.
"""
