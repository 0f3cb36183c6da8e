"""The state of EKS, its errors, and the common base of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NoReturn

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.resource_tagging import TaggableResourcesMixin, TaggedResource
from moto.core.responses import BaseResponse
from moto.eks.exceptions import (
    EKSError,
    InvalidParameterException,
    InvalidRequestException,
    ResourceInUseException,
    ResourceNotFoundException,
)

# EKS's errors: JSON with the names of the affected objects.
#
# https://docs.aws.amazon.com/eks/latest/APIReference/CommonErrors.html


class UnsupportedAvailabilityZoneError(EKSError):
    """A subnet of the control plane is in a zone that EKS does not support."""

    TYPE = "UnsupportedAvailabilityZoneException"
    STATUS = 400


def invalid_parameter(message: str, **about: Any) -> NoReturn:
    """Reject a value.

    Raises:
        InvalidParameterException: always.
    """
    raise InvalidParameterException(message=message, **about)


def invalid_request(message: str, **about: Any) -> NoReturn:
    """Reject a request because of the state of the object.

    Raises:
        InvalidRequestException: always.
    """
    raise InvalidRequestException(message=message, **about)


def in_use(message: str, **about: Any) -> NoReturn:
    """Reject the creation of an existing object, or the deletion of one in use.

    Raises:
        ResourceInUseException: always.
    """
    raise ResourceInUseException(message=message, **about)


def not_found(message: str, **about: Any) -> NoReturn:
    """Report that an object does not exist.

    Raises:
        ResourceNotFoundException: always.
    """
    raise ResourceNotFoundException(message=message, **about)


Tags = dict[str, str]


@dataclass(kw_only=True)
class Update:
    """An update of a cluster, node group or add-on."""

    update_id: str
    kind: str
    parameters: list[dict[str, str]]
    created_at: datetime
    node_group: str | None = None
    addon: str | None = None
    status: Literal["InProgress", "Successful", "Failed"] = "InProgress"
    errors: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def described(self) -> dict[str, Any]:
        """Return it as in DescribeUpdate."""
        return {
            "id": self.update_id,
            "status": self.status,
            "type": self.kind,
            "params": self.parameters,
            "createdAt": self.created_at,
            "errors": self.errors,
        }


@dataclass(kw_only=True)
class AccessEntry:
    """The permissions of a principal in a cluster."""

    arn: str
    cluster_name: str
    principal_arn: str
    entry_type: str
    username: str
    kubernetes_groups: tuple[str, ...]
    created_at: datetime
    tags: Tags = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Associated access policies by ARN, as the API describes them."""
    made_by_eks: bool = False
    """Whether EKS created the entry, for a managed node group's role, and deletes it again."""

    def described(self) -> dict[str, Any]:
        """Return it as in DescribeAccessEntry."""
        return {
            "clusterName": self.cluster_name,
            "principalArn": self.principal_arn,
            "kubernetesGroups": list(self.kubernetes_groups),
            "accessEntryArn": self.arn,
            "createdAt": self.created_at,
            "modifiedAt": self.created_at,
            "tags": self.tags,
            "username": self.username,
            "type": self.entry_type,
        }


@dataclass(kw_only=True)
class Cluster:
    """A cluster.

    Attributes:
        fields: The fields of DescribeCluster; calls change them in place.
        node_groups: The fields of DescribeNodegroup, by name; likewise.
        addons: The fields of DescribeAddon, by name; likewise.
        access_entries: By principal ARN.
        pod_identities: The fields of DescribePodIdentityAssociation, by association id.
    """

    fields: dict[str, Any]
    node_groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    addons: dict[str, dict[str, Any]] = field(default_factory=dict)
    access_entries: dict[str, AccessEntry] = field(default_factory=dict)
    pod_identities: dict[str, dict[str, Any]] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.fields["name"]

    @property
    def arn(self) -> str:
        """Its ARN."""
        return self.fields["arn"]

    @property
    def authentication_mode(self) -> str:
        """`CONFIG_MAP`, `API_AND_CONFIG_MAP` or `API`."""
        return self.fields["accessConfig"]["authenticationMode"]

    @property
    def uses_access_entries(self) -> bool:
        """Whether access entries are enabled."""
        return self.authentication_mode != "CONFIG_MAP"

    def node_group(self, name: str) -> dict[str, Any]:
        """Return a node group.

        Raises:
            ResourceNotFoundException: The node group does not exist.
        """
        if name not in self.node_groups:
            not_found(
                f"No node group found for name: {name}.",
                clusterName=self.name,
                nodegroupName=name,
            )
        return self.node_groups[name]

    def addon(self, name: str) -> dict[str, Any]:
        """Return an add-on.

        Raises:
            ResourceNotFoundException: It is not installed.
        """
        if name not in self.addons:
            not_found(
                f"No addon: {name} found in cluster: {self.name}",
                clusterName=self.name,
                addonName=name,
            )
        return self.addons[name]

    def access_entry(self, principal_arn: str) -> AccessEntry:
        """Return an access entry.

        Raises:
            ResourceNotFoundException: The principal has no entry.
        """
        if principal_arn not in self.access_entries:
            not_found(
                "The specified principalArn could not be found. You can view your available "
                "access entries with 'list-access-entries'."
            )
        return self.access_entries[principal_arn]

    def entry_of_role(self, role_arn: str) -> AccessEntry | None:
        """Return the entry of a role with an unknown path, as in an assumed role's ARN."""
        for principal_arn, entry in self.access_entries.items():
            if without_path(principal_arn) == without_path(role_arn):
                return entry
        return None


class EksStore(BaseBackend, TaggableResourcesMixin):
    """The clusters of an account and region, by name; moto resets it with its own backends."""

    SERVICE_NAMESPACE = "eks"

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.clusters: dict[str, Cluster] = {}

    def cluster(self, name: str) -> Cluster:
        """Return a cluster.

        Raises:
            ResourceNotFoundException: The cluster does not exist.
        """
        if name not in self.clusters:
            not_found(f"No cluster found for name: {name}.", clusterName=name)
        return self.clusters[name]

    def tags_by_arn(self) -> dict[str, Tags]:
        """Return the tags of all objects; changes of them are kept."""
        found: dict[str, Tags] = {}
        for cluster in self.clusters.values():
            found[cluster.arn] = cluster.fields["tags"]
            for key, parts in (
                ("nodegroupArn", cluster.node_groups),
                ("addonArn", cluster.addons),
                ("associationArn", cluster.pod_identities),
            ):
                found.update({each[key]: each["tags"] for each in parts.values()})
            found.update({entry.arn: entry.tags for entry in cluster.access_entries.values()})
        return found

    def iter_tagged_resources(self) -> Iterator[TaggedResource]:
        """Yield what `tag:GetResources` lists.

        https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
        """
        for arn, tags in self.tags_by_arn().items():
            kind = arn.rpartition(":")[2].partition("/")[0]
            yield TaggedResource(arn=arn, tags=dict(tags), resource_type=f"eks:{kind}")


eks_stores: BackendDict[EksStore] = BackendDict(EksStore, "eks")


def without_path(role_arn: str) -> str:
    """Return a role's ARN without the path."""
    prefix, _, rest = role_arn.partition(":role/")
    return f"{prefix}:role/{rest.rpartition('/')[2]}" if rest else role_arn


def page(
    items: Sequence[str], token: str | None, limit: int | None
) -> tuple[list[str], str | None]:
    """Return one page of a list call and the token for the next page."""
    ordered = sorted(items)
    start = int(token or 0)
    end = start + (limit or 100)
    return ordered[start:end], str(end) if end < len(ordered) else None


class EksBase(BaseResponse):
    """An EKS response class: parameters parsed with botocore's model, state in `EksStore`."""

    params: Any

    def __init__(self) -> None:
        super().__init__(service_name="eks")
        self.automated_parameter_parsing = True

    @property
    def store(self) -> EksStore:
        """The clusters of the request's account and region."""
        return eks_stores[self.current_account][self.region]

    def arn(self, kind: str, *path: str) -> str:
        """Return the ARN of an EKS object."""
        rest = "/".join((kind, *path))
        return f"arn:{self.partition}:eks:{self.region}:{self.current_account}:{rest}"
