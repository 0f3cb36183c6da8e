"""Read a nodeadm `NodeConfig` from an instance's user data.

Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ and, for the encodings and the
merge of several parts, nodeadm/internal of https://github.com/awslabs/amazon-eks-ami.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import email
import email.policy
import gzip
import shlex
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_MEDIA_TYPE = "application/node.eks.aws"
_API_GROUP = "node.eks.aws"
_GZIP_MAGIC = b"\x1f\x8b"


class NodeConfigError(ValueError):
    """The user data has a NodeConfig that nodeadm would reject."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint with which the kubelet registers its Node."""

    key: str
    value: str
    effect: str

    def as_object(self) -> dict[str, str]:
        """Return the taint in the form of a Node's spec."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """Cluster and kubelet configuration of a node; empty values are not set."""

    cluster_name: str = ""
    api_server_endpoint: str = ""
    certificate_authority: str = ""
    """Base64 of PEM."""
    cidr: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    maximum_pods: int | None = None
    """None for the value from the AMI's table."""
    local_storage: str = ""
    """`RAID0`, `RAID10`, `Mount`, or empty if the instance store is not used."""

    def missing(self) -> list[str]:
        """Return the missing fields that nodeadm requires, in its order."""
        required = {
            "spec.cluster.name": self.cluster_name,
            "spec.cluster.apiServerEndpoint": self.api_server_endpoint,
            "spec.cluster.certificateAuthority": self.certificate_authority,
            "spec.cluster.cidr": self.cidr,
        }
        return [field for field, value in required.items() if not value]


def parse_user_data(user_data: bytes) -> NodeConfig | None:
    """Return the NodeConfig in user data, or None if there is none (not an AL2023 EKS node).

    MIME parts are merged as nodeadm does: later values replace earlier ones, kubelet flags are
    appended.

    Raises:
        NodeConfigError: a part of the type NodeConfig is invalid.
    """
    merged: dict[str, Any] = {}
    found = False
    for part in _parts(_decode(user_data)):
        found = True
        _merge(merged, _document(part))
    return _node_config(merged.get("spec") or {}) if found else None


def _decode(data: bytes) -> bytes:
    """Decode base64, then gzip, if they are used."""
    with contextlib.suppress(binascii.Error):  # it was not base64
        data = base64.b64decode(b"".join(data.split()), validate=True)
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise NodeConfigError(f"it begins like gzip, but is not: {error}") from error


def _parts(data: bytes) -> Iterator[bytes]:
    """Return the NodeConfig documents: MIME parts of that type, or all of the data."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if message.is_multipart():
        for part in message.walk():
            if part.get_content_type() == _MEDIA_TYPE:
                content = part.get_payload(decode=True)
                yield _decode(content if isinstance(content, bytes) else b"")
    elif f"{_API_GROUP}/".encode() in data:
        yield data


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise NodeConfigError(f"the NodeConfig is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise NodeConfigError("the NodeConfig is not an object")
    group = str(document.get("apiVersion", "")).partition("/")[0]
    if group != _API_GROUP or document.get("kind") != "NodeConfig":
        raise NodeConfigError(
            f"apiVersion and kind are {document.get('apiVersion')!r} and "
            f"{document.get('kind')!r}, not 'node.eks.aws/v1alpha1' and 'NodeConfig'"
        )
    return document


def _merge(target: dict[str, Any], source: Mapping[str, Any]) -> None:
    for key, value in source.items():
        current = target.get(key)
        if isinstance(current, dict) and isinstance(value, dict):
            _merge(current, value)
        elif key == "flags" and isinstance(current, list) and isinstance(value, list):
            current.extend(value)
        else:
            target[key] = value


def _node_config(spec: Mapping[str, Any]) -> NodeConfig:
    cluster: Mapping[str, Any] = spec.get("cluster") or {}
    kubelet: Mapping[str, Any] = spec.get("kubelet") or {}
    config: Mapping[str, Any] = kubelet.get("config") or {}
    flags = _flags(kubelet.get("flags") or [])
    storage = ((spec.get("instance") or {}).get("localStorage") or {}).get("strategy") or ""
    maximum_pods = flags.get("max-pods", [config.get("maxPods")])[-1]
    return NodeConfig(
        cluster_name=str(cluster.get("name") or ""),
        api_server_endpoint=str(cluster.get("apiServerEndpoint") or ""),
        certificate_authority=str(cluster.get("certificateAuthority") or ""),
        cidr=str(cluster.get("cidr") or ""),
        labels=tuple(_labels(flags.get("node-labels", []))),
        taints=_taints(flags, config),
        maximum_pods=None if maximum_pods is None else _integer("maxPods", maximum_pods),
        local_storage=str(storage),
    )


def _flags(arguments: list[Any]) -> dict[str, list[str]]:
    """Return the values of each kubelet flag in order, by its name without dashes."""
    values: dict[str, list[str]] = {}
    words = shlex.split(" ".join(str(argument) for argument in arguments))
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values.setdefault(name, []).extend([value] if equals else [])
        elif name:
            values[name].append(word)
        else:
            raise NodeConfigError(f"the kubelet flag {word!r} does not begin with '--'")
    return values


def _labels(values: list[str]) -> Iterator[tuple[str, str]]:
    labels: dict[str, str] = {}
    for pair in filter(None, ",".join(values).split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise NodeConfigError(f"--node-labels holds {pair!r}, which is not key=value")
        labels[key] = value
    yield from labels.items()


def _taints(flags: Mapping[str, list[str]], config: Mapping[str, Any]) -> tuple[Taint, ...]:
    if "register-with-taints" not in flags:
        return tuple(
            Taint(str(taint["key"]), str(taint.get("value") or ""), str(taint["effect"]))
            for taint in config.get("registerWithTaints") or []
        )
    taints: list[Taint] = []
    for text in filter(None, ",".join(flags["register-with-taints"]).split(",")):
        name, colon, effect = text.partition(":")
        if not colon:
            raise NodeConfigError(f"--register-with-taints holds {text!r}: no ':effect'")
        key, _, value = name.partition("=")
        taints.append(Taint(key, value, effect))
    return tuple(taints)


def _integer(field: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise NodeConfigError(f"{field} is {value!r}, not a number") from error
