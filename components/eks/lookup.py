"""Read an EKS cluster from the account, and the versions that EKS offers."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from trainyard.components.account.reader import AccountReader, Reading
from trainyard.components.catalog.versions import (
    EKS_VERSIONS,
    minor_number,
)
from trainyard.components.config.eks import AddonName, EksStackConfig
from trainyard.components.eks.addons.eks_managed import (
    installed_versions,
)
from trainyard.components.eks.facts import AddonOffer, ClusterFacts, VersionFacts

# Read the Kubernetes API of a cluster, such as its `aws-auth` ConfigMap, as the caller.
#
# EKS accepts a presigned sts:GetCallerIdentity request as a token, like that of `aws eks
# get-token`: the prefix `k8s-aws-v1.` and the URL in unpadded base64, with the cluster name in a
# signed header.
#
# Source: https://github.com/kubernetes-sigs/aws-iam-authenticator, "API Authorization from Outside
# a Cluster", and `awscli/customizations/eks/get_token.py` of the AWS CLI.


AWS_AUTH = "kubernetes:GetConfigMap kube-system/aws-auth"
"""Name of the read in `AccountFacts.unreadable`."""

_PREFIX = "k8s-aws-v1."
_CLUSTER_HEADER = "x-k8s-aws-id"
_EVENT = "before-sign.sts.GetCallerIdentity"
_URL_SECONDS = 60
_ANSWER_SECONDS = 5
_NOT_FOUND = 404


class ClusterUnreadableError(Exception):
    """The API server of a cluster cannot be read; the message is for users."""


def read_aws_auth(reader: AccountReader, cluster: Mapping[str, Any]) -> Mapping[str, str] | None:
    """Return the data of `aws-auth`: empty without a ConfigMap, None if it cannot be read.

    Args:
        reader: reader with the credentials; records failures in `unreadable`.
        cluster: the cluster, from DescribeCluster.
    """
    try:
        found = get(reader, cluster, "/api/v1/namespaces/kube-system/configmaps/aws-auth")
    except ClusterUnreadableError as error:
        return _unreadable(reader, str(error))
    return {} if found is None else found.get("data") or {}


def get(reader: AccountReader, cluster: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return the object at a path of the API server; None if it does not exist.

    Args:
        reader: reader with the credentials.
        cluster: the cluster, from DescribeCluster.
        path: such as `/apis/apps/v1`.

    Raises:
        ClusterUnreadableError: the API server does not answer or denies access.
    """
    endpoint = cluster.get("endpoint")
    authority = (cluster.get("certificateAuthority") or {}).get("data")
    if not endpoint or not authority:
        raise ClusterUnreadableError(f"the cluster is {cluster['status']}, without an endpoint")
    request = Request(  # noqa: S310 (an endpoint of EKS)
        f"{endpoint}{path}",
        headers={"Authorization": f"Bearer {token(reader, cluster['name'])}"},
    )
    try:
        trusted = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
        with urlopen(request, timeout=_ANSWER_SECONDS, context=trusted) as answer:  # noqa: S310
            return json.load(answer)
    except HTTPError as error:
        if error.code == _NOT_FOUND:
            return None
        raise ClusterUnreadableError(
            f"the API server answers {error.code} {error.reason}"
        ) from error
    except (OSError, ValueError) as error:
        raise ClusterUnreadableError(f"{endpoint} cannot be used from here ({error})") from error


def token(reader: AccountReader, cluster_name: str) -> str:
    """Return a bearer token of the caller for one cluster."""

    def name_the_cluster(request: Any, **_: Any) -> None:
        request.headers[_CLUSTER_HEADER] = cluster_name

    events = reader.sts.meta.events
    events.register(_EVENT, name_the_cluster)
    try:
        url = reader.sts.generate_presigned_url(
            "get_caller_identity", ExpiresIn=_URL_SECONDS, HttpMethod="GET"
        )
    finally:
        events.unregister(_EVENT, name_the_cluster)
    return _PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _unreadable(reader: AccountReader, reason: str) -> None:
    reader.unreadable.append(f"{AWS_AUTH}: {reason}")


# Read an existing EKS cluster: versions, node groups and authorization.
#
# Sources: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html and the
# pages of the other calls.


DESCRIBE_CLUSTER = "eks:DescribeCluster"
LIST_UPDATES, DESCRIBE_UPDATE = "eks:ListUpdates", "eks:DescribeUpdate"
_ANSWERING = {"ACTIVE", "UPDATING"}
"""Statuses in which EKS lists the access entries of a cluster."""


def look_up_cluster(
    reader: AccountReader,
    name: str,
    *,
    wanted_version: str = "",
    with_aws_auth: bool = True,
    aws_auth_of: Callable[..., Mapping[str, str] | None] = read_aws_auth,
) -> ClusterFacts | None:
    """Return the cluster, or None if it does not exist or cannot be read.

    Args:
        reader: The account and region.
        name: Name of the cluster.
        wanted_version: Kubernetes version of the stack. If it is older than that of the cluster,
            the time of the upgrade is read too.
        with_aws_auth: Whether to read the ConfigMap too, if the mode has one. This calls the
            cluster's API server, which may be unreachable.
        aws_auth_of: Reads the ConfigMap of a cluster, as `DescribeCluster` answers it.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(DESCRIBE_CLUSTER, reader.eks.describe_cluster, name=name)
    if not answer:
        return None
    cluster = answer["cluster"]
    mode = (cluster.get("accessConfig") or {}).get("authenticationMode") or "CONFIG_MAP"
    groups = _node_groups(reader, name)
    version = cluster["version"]
    goes_back = bool(wanted_version) and minor_number(wanted_version) < minor_number(version)
    has_entries = mode != "CONFIG_MAP" and cluster["status"] in _ANSWERING
    return ClusterFacts(
        name=name,
        status=cluster["status"],
        kubernetes_version=version,
        upgraded_at=_upgraded_at(reader, name, version) if goes_back else None,
        support_type=(cluster.get("upgradePolicy") or {}).get("supportType") or "EXTENDED",
        authentication_mode=mode,
        secrets_key_arn=_secrets_key(cluster),
        access_entries=_access_entries(reader, name) if has_entries else {},
        node_role_arns=frozenset(
            group["nodeRole"] for group in groups.values() if "nodeRole" in group
        ),
        addon_versions=_addon_versions(reader, name),
        node_group_versions=_versions(reader, groups),
        node_group_sizes={
            group: (found.get("scalingConfig") or {}).get("desiredSize", 0)
            for group, found in groups.items()
        },
        aws_auth=aws_auth_of(reader, cluster) if with_aws_auth and mode != "API" else None,
    )


def _upgraded_at(reader: AccountReader, cluster: str, version: str) -> datetime | None:
    """Return when the last upgrade to a version began, or None.

    An update has no time at which it completed.
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Update.html
    """
    times: list[datetime] = []
    for update_id in _listed(reader, "ListUpdates", "updateIds", cluster):
        answer = reader.ask(
            DESCRIBE_UPDATE, reader.eks.describe_update, name=cluster, updateId=update_id
        )
        update = (answer or {}).get("update") or {}
        to = {each["value"] for each in update.get("params") or [] if each["type"] == "Version"}
        upgraded = update.get("type") == "VersionUpdate" and update.get("status") == "Successful"
        if upgraded and version in to:
            times.append(update["createdAt"])
    return max(times, default=None)


def _secrets_key(cluster: dict[str, Any]) -> str | None:
    for encryption in cluster.get("encryptionConfig") or []:
        if "secrets" in encryption.get("resources", []):
            return encryption.get("provider", {}).get("keyArn")
    return None


def _access_entries(reader: AccountReader, cluster: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for principal in _listed(reader, "ListAccessEntries", "accessEntries", cluster):
        answer = reader.ask(
            "eks:DescribeAccessEntry",
            reader.eks.describe_access_entry,
            clusterName=cluster,
            principalArn=principal,
        )
        found[principal] = answer["accessEntry"]["type"] if answer else ""
    return found


def _addon_versions(reader: AccountReader, cluster: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _listed(reader, "ListAddons", "addons", cluster):
        answer = reader.ask(
            "eks:DescribeAddon", reader.eks.describe_addon, clusterName=cluster, addonName=name
        )
        if answer:
            found[name] = answer["addon"]["addonVersion"]
    return found


def _node_groups(reader: AccountReader, cluster: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in _listed(reader, "ListNodegroups", "nodegroups", cluster):
        answer = reader.ask(
            "eks:DescribeNodegroup",
            reader.eks.describe_nodegroup,
            clusterName=cluster,
            nodegroupName=name,
        )
        if answer:
            found[name] = answer["nodegroup"]
    return found


def _versions(reader: AccountReader, groups: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the Kubernetes versions of node groups; leave out those that show none.

    EKS shows no version of a group whose launch template has an AMI of its own:
    eksctl-io/eksctl, pull request 3960. A group of another owner can be one.
    """
    for name, found in groups.items():
        if "version" not in found:
            reader.leave_out(
                f"version of node group {name}",
                "EKS shows none, as of a group with an AMI of its own; before an upgrade of the "
                "cluster, its nodes must have the version of the cluster",
            )
    return {name: found["version"] for name, found in groups.items() if "version" in found}


_LIST_CALLS = {
    "ListAccessEntries": "list_access_entries",
    "ListAddons": "list_addons",
    "ListNodegroups": "list_nodegroups",
    "ListUpdates": "list_updates",
}
_NAMED_NAME = {"ListUpdates"}
"""Calls that take the cluster as `name`; the others, as `clusterName`."""


def _listed(reader: AccountReader, call: str, key: str, cluster: str) -> list[str]:
    """Return the items of all pages of a list call."""
    do = getattr(reader.eks, _LIST_CALLS[call])
    key_of_name = "name" if call in _NAMED_NAME else "clusterName"
    pages = reader.pages(f"eks:{call}", do, **{key_of_name: cluster})
    return [name for answer in pages for name in answer[key]]


# Whether EKS supports the Kubernetes version of a stack.
#
# Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeClusterVersions.html


DESCRIBE_VERSIONS = "eks:DescribeClusterVersions"


_ALL_VERSIONS = 100


_NONE = "UNSUPPORTED"


def look_up_versions(reader: AccountReader) -> dict[str, VersionFacts]:
    """Return the Kubernetes versions of EKS, by version."""
    # All versions, because the API does not document its response to unknown versions.
    answer = reader.ask_or_none(
        DESCRIBE_VERSIONS, reader.eks.describe_cluster_versions, maxResults=_ALL_VERSIONS
    )
    return {
        each["clusterVersion"]: VersionFacts(
            status=each.get("versionStatus", ""),
            standard_support_ends=_day(each.get("endOfStandardSupportDate")),
        )
        for each in (answer or {}).get("clusterVersions", [])
    }


def _day(moment: datetime | None) -> date | None:
    """Return the day in UTC; boto3 returns the times of EKS in the zone of the machine."""
    return None if moment is None else moment.astimezone(UTC).date()


# Checks that EKS offers the versions of the add-ons that it installs in the cluster.
#
# These are the versions in the stack file, and those that the program pins for the Kubernetes
# version. EKS withdraws builds of add-ons, so a pinned version can be gone when the program is
# older.
#
# Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html


DESCRIBE_ADDON_VERSIONS = "eks:DescribeAddonVersions"


def checked_versions(config: EksStackConfig) -> Mapping[AddonName, str]:
    """Return the versions that are installed, and the others that the stack file names."""
    pins = EKS_VERSIONS.get(config.architecture.kubernetes_version)
    installed = {} if pins is None else installed_versions(config, pins)
    return {**installed, **config.architecture.addons.versions}


def addon_offer_readings(reader: AccountReader, config: EksStackConfig) -> Iterator[Reading]:
    """Yield a reading of the versions that EKS offers of each add-on."""
    version = config.architecture.kubernetes_version
    for addon in checked_versions(config):
        yield lambda addon=addon: {"addon_offers": {addon: look_up_offer(reader, addon, version)}}


def look_up_offer(reader: AccountReader, addon: str, kubernetes_version: str) -> AddonOffer:
    """Return the versions of an add-on that EKS offers for a Kubernetes version."""
    versions: list[str] = []
    default: str | None = None
    pages = reader.pages(
        DESCRIBE_ADDON_VERSIONS,
        reader.eks.describe_addon_versions,
        addonName=addon,
        kubernetesVersion=kubernetes_version,
    )
    for answer in pages:
        for found in answer.get("addons", []):
            for offered in found["addonVersions"]:
                versions.append(offered["addonVersion"])
                if any(
                    fit.get("defaultVersion") and fit.get("clusterVersion") == kubernetes_version
                    for fit in offered["compatibilities"]
                ):
                    default = offered["addonVersion"]
    return AddonOffer(versions=tuple(versions), default=default)
