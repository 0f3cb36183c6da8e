"""What the user data of a node says, without its text, which can have secrets.

Sources:
    https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ (`node.eks.aws/v1alpha1`)
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data
    https://awslabs.github.io/amazon-eks-ami/USER_GUIDE/ (`bootstrap.sh --kubelet-extra-args`)
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from email import message_from_string
from pathlib import Path
from typing import Any

import yaml

from trainyard.stack_files.yaml_limits import Excess, UnreadableYamlError

_FLAG = re.compile(r"--(?P<name>node-labels|register-with-taints)[= ]\"?(?P<value>[^\s'\"]+)")
MARKS_OF_LABELS = ("alpha.eksctl.io/", "eks.amazonaws.com/", "node.kubernetes.io/lifecycle")
"""Beginnings of labels that EKS, eksctl or the kubelet sets."""
_NODE_CONFIG = "node.eks.aws/v1alpha1"
_MULTIPART = "boundary"
_MOST_MULTIPARTS = 50
"""Maximum number of words `boundary`, one for each part that has parts; user data has one."""
# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def summary(encoded: str) -> dict[str, Any]:
    """Return what user data in base64 says, as `said_in` does."""
    text = decoded(encoded)
    return {"scripts": 1} if text is None else said_in(text)


def decoded(encoded: str) -> str | None:
    """Return the text of user data in base64; None if it is not base64 of a text."""
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8")
    except ValueError:
        return None


def said_in(text: str) -> dict[str, Any]:
    """Return labels, taints and the instance store of nodes, and how many scripts there are.

    Args:
        text: A NodeConfig, a script with flags of the kubelet, or a MIME document with several
            parts.
    """
    found: dict[str, Any] = {}
    for part in _parts(text):
        spec = _spec_of(part)
        if spec is None:
            flags = {match["name"]: match["value"] for match in _FLAG.finditer(part)}
            found = {**found, "scripts": found.get("scripts", 0) + 1, **_of_flags(flags)}
        else:
            found = {**found, "nodeConfig": True, **_of_node_config(spec)}
    return found


def _parts(text: str) -> Iterator[str]:
    if text.count(_MULTIPART) > _MOST_MULTIPARTS:
        yield text  # the parser of the standard library needs its stack for each level
        return
    message = message_from_string(text)
    if not message.is_multipart():
        yield text
        return
    for part in message.walk():
        if not part.is_multipart():
            yield str(part.get_payload())


def _spec_of(part: str) -> dict[str, Any] | None:
    """Return `spec` of a part that is a NodeConfig, or None."""
    if _NODE_CONFIG not in part:
        return None
    try:
        Excess(Path("user data")).refuse(part)
        document = yaml.load(part, Loader=_LOADER)  # noqa: S506 - a safe one, or that of libyaml
    except (yaml.YAMLError, UnreadableYamlError):
        return None
    if not isinstance(document, dict) or document.get("apiVersion") != _NODE_CONFIG:
        return None
    return _mapping(document, "spec")


def _mapping(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a mapping in a mapping; an empty one if it is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _of_node_config(spec: dict[str, Any]) -> dict[str, Any]:
    given = _mapping(spec, "kubelet").get("flags")
    flags = dict(
        str(flag).removeprefix("--").split("=", 1)
        for flag in (given if isinstance(given, list) else ())
        if "=" in str(flag)
    )
    strategy = _mapping(_mapping(spec, "instance"), "localStorage").get("strategy")
    return {**_of_flags(flags), **({"localStorage": strategy} if strategy else {})}


def _of_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    labels = dict(each.split("=", 1) for each in _entries(flags.get("node-labels")) if "=" in each)
    taints = [_taint(each) for each in _entries(flags.get("register-with-taints"))]
    return {key: value for key, value in {"labels": labels, "taints": taints}.items() if value}


def _entries(flag: str | None) -> list[str]:
    return [each for each in (flag or "").split(",") if each]


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}
