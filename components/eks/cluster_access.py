"""Read the Kubernetes API of a cluster, such as its `aws-auth` ConfigMap, as the caller.

EKS accepts a presigned sts:GetCallerIdentity request as a token, like that of `aws eks get-token`:
the prefix `k8s-aws-v1.` and the URL in unpadded base64, with the cluster name in a signed header.

Source: https://github.com/kubernetes-sigs/aws-iam-authenticator, "API Authorization from Outside
a Cluster", and `awscli/customizations/eks/get_token.py` of the AWS CLI.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from trainyard.components.account.lookup import AccountReader

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
