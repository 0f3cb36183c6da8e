"""The provider's `kubeconfig`: where the API server is, and the token for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from sandbox.providers._protocol.servicer import ProviderError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """One way into one cluster of the sandbox."""

    server: str
    certificate_authority_data: str
    """PEM, base64."""
    token: str = field(repr=False)


def read_access(text: str) -> Access:
    """Return what the current context of a kubeconfig says.

    Args:
        text: The kubeconfig as JSON or YAML, or the path of a file that holds it.

    Raises:
        ProviderError: it is no kubeconfig, does not carry a token, or names a server that is not
            on this machine. The message never repeats the kubeconfig, which is a secret.
    """
    content = _parsed(text)
    try:
        context = _named(content["contexts"], content["current-context"])["context"]
        cluster = _named(content["clusters"], context["cluster"])["cluster"]
        user = _named(content["users"], context["user"])["user"]
        server = str(cluster["server"])
        authority = cluster["certificate-authority-data"]
    except (KeyError, TypeError) as error:
        raise ProviderError(f"the provider's kubeconfig lacks {error}") from None
    if urlsplit(server).hostname not in LOOPBACK:
        raise ProviderError(
            f"the provider's kubeconfig names {server}, which is not on this machine: this plugin "
            "is the sandbox's stand-in for pulumi-kubernetes and only talks to a sandbox"
        )
    if not user.get("token"):
        raise ProviderError(
            "the provider's kubeconfig has no token for its user; the sandbox's clusters accept "
            "no other credential of an administrator"
        )
    return Access(server, authority, user["token"])


def _parsed(text: str) -> dict[str, Any]:
    try:
        if "\n" not in text and not text.lstrip().startswith("{"):
            text = Path(text).expanduser().read_text(encoding="utf-8")
        content = yaml.safe_load(text)
    except OSError as error:
        raise ProviderError(f"the provider's kubeconfig cannot be read: {error.strerror}") from None
    except yaml.YAMLError:
        raise ProviderError("the provider's kubeconfig is neither JSON nor YAML") from None
    if not isinstance(content, dict):
        raise ProviderError("the provider's kubeconfig is not an object")
    return content


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for entry in entries:
        if entry["name"] == name:
            return entry
    raise KeyError(name)
