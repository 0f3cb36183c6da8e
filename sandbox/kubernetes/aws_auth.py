"""The entries that EKS writes into aws-auth: the roles of managed node groups.

EKS does so only if the cluster has no access entries; otherwise it creates an access entry.
Source: https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
"""

from __future__ import annotations

from typing import Any

import yaml

from trainyard.sandbox.kubernetes.api import NOT_FOUND, ApiError, KubernetesApi


class AwsAuthError(Exception):
    """No entry can be added to the ConfigMap because of its format."""


_NAMESPACE = "/api/v1/namespaces/kube-system/configmaps"
_NAME = "aws-auth"


def map_node_role(api: KubernetesApi, role_arn: str) -> None:
    """Add a node role to aws-auth, which is created if necessary; idempotent.

    The role's path is omitted, because STS never returns it. The entry is appended as text, so that
    the rest of the map is unchanged.

    Raises:
        ApiError: the API server rejected the request; status 409 after a concurrent change.
        ApiUnreachableError: the API server does not respond.
        AwsAuthError: `mapRoles` is not a YAML list.
    """
    name = role_arn.rpartition("/")[2]
    role_arn = f"{role_arn.partition(':role/')[0]}:role/{name}"
    config_map = _existing(api) or _create(api)
    data: dict[str, str] = config_map.get("data") or {}
    text = data.get("mapRoles") or ""
    entries = _entries(text)
    if role_arn in {entry.get("rolearn") for entry in entries if isinstance(entry, dict)}:
        return
    body = {
        # The request is rejected if the object has been changed meanwhile.
        "metadata": {"resourceVersion": config_map["metadata"]["resourceVersion"]},
        "data": {"mapRoles": _with_entry(text, entries, role_arn)},
    }
    api.patch(f"{_NAMESPACE}/{_NAME}", body)


def _existing(api: KubernetesApi) -> dict[str, Any] | None:
    try:
        return api.get(f"{_NAMESPACE}/{_NAME}")
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None


def _create(api: KubernetesApi) -> dict[str, Any]:
    return api.post(
        _NAMESPACE, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME}}
    )


def _entries(text: str) -> list[Any]:
    try:
        entries = yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise AwsAuthError(f"mapRoles of aws-auth is not YAML: {error}") from error
    if not isinstance(entries, list):
        raise AwsAuthError("mapRoles of aws-auth is not a list")
    return entries


def _with_entry(text: str, entries: list[Any], role_arn: str) -> str:
    entry = {
        "groups": ["system:bootstrappers", "system:nodes"],
        "rolearn": role_arn,
        "username": "system:node:{{EC2PrivateDNSName}}",
    }
    separator = "" if not text or text.endswith("\n") else "\n"
    appended = f"{text}{separator}{yaml.safe_dump([entry])}"
    try:
        _entries(appended)
    except AwsAuthError:  # no entry can be appended to a flow sequence or an indented list
        return yaml.safe_dump([*entries, entry])
    return appended
