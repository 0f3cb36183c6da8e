"""The provider's `kubeconfig`: address of the API server, and its token.

Source:
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from trainyard.sandbox.providers._protocol.servicer import ProviderError

TOKEN_SECONDS = 60.0
"""Timeout: the AWS CLI takes a second; a command that prompts for input would never end."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """Access to a cluster of the sandbox."""

    server: str
    certificate_authority_data: str
    """PEM, base64."""
    user: Mapping[str, Any] = field(repr=False)
    """User entry of the kubeconfig: `token`, or `exec` with a command that prints one."""

    def token(self) -> str:
        """Return the user's token; run the `exec` command if there is one.

        Raises:
            ProviderError: the command fails or prints no token.
        """
        return self.user.get("token") or _printed_token(self.user["exec"])


def read_access(text: str) -> Access:
    """Return the access of the current context of a kubeconfig.

    Args:
        text: The kubeconfig as JSON or YAML, or the path of its file.

    Raises:
        ProviderError: it is not a kubeconfig, has no token, or names a server that is not on this
            machine. The message never contains the kubeconfig, which is a secret.
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
    if not user.get("token") and not (user.get("exec") or {}).get("command"):
        raise ProviderError(
            "the provider's kubeconfig has neither a token nor a command for one; the sandbox's "
            "clusters accept no other credential of an administrator"
        )
    return Access(server, authority, user)


def _printed_token(wanted: Mapping[str, Any]) -> str:
    command = [wanted["command"], *(wanted.get("args") or [])]
    variables = {each["name"]: each["value"] for each in wanted.get("env") or []}
    source = f"the command {wanted['command']} of the provider's kubeconfig"
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TOKEN_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ProviderError(f"{source} does not run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ProviderError(f"{source} has not ended after {TOKEN_SECONDS:.0f} s") from None
    if done.returncode != 0:
        raise ProviderError(f"{source} failed: {done.stderr.strip()}")
    try:
        return json.loads(done.stdout)["status"]["token"]
    except (ValueError, KeyError, TypeError):
        raise ProviderError(f"{source} printed no ExecCredential with a token") from None


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
