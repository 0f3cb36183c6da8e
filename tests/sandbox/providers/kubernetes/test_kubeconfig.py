"""The forms of kubeconfigs that the `kubernetes` stand-in accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainyard.sandbox.providers._protocol.servicer import ProviderError
from trainyard.sandbox.providers.kubernetes.kubeconfig import Access, read_access

TOKEN = "a-secret-that-no-message-repeats"


def kubeconfig(server: str = "https://127.0.0.1:6443", **user: Any) -> dict[str, Any]:
    authority = {"server": server, "certificate-authority-data": "Q0E="}
    return {
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": authority}],
        "users": [{"name": "u", "user": user or {"token": TOKEN}}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
    }


def test_json_yaml_and_a_path_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(kubeconfig()))
    wanted = Access("https://127.0.0.1:6443", "Q0E=", {"token": TOKEN})
    assert read_access(json.dumps(kubeconfig())) == wanted
    assert read_access(path.read_text()) == wanted
    assert read_access(str(path)) == wanted


def test_a_server_elsewhere_is_refused() -> None:
    text = json.dumps(kubeconfig("https://0123.gr7.us-west-2.eks.amazonaws.com"))
    with pytest.raises(ProviderError, match="is not on this machine"):
        read_access(text)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(kubeconfig(exec={"args": [TOKEN]})),
        json.dumps(kubeconfig(username=TOKEN)),
        json.dumps({**kubeconfig(), "current-context": "two"}),
        json.dumps({"users": [TOKEN]}),
        f"{TOKEN}:\n- [",
        f"[{TOKEN}]\n",
        "/no/such/file",
    ],
)
def test_what_is_no_kubeconfig_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ProviderError, match="the provider's kubeconfig") as refusal:
        read_access(text)
    assert TOKEN not in str(refusal.value)


def test_the_token_does_not_show_when_access_is_printed() -> None:
    assert TOKEN not in repr(read_access(json.dumps(kubeconfig())))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no such cluster >&2; exit 1", "sh of the provider's kubeconfig failed: no such"),
        ("echo '{}'", "printed no ExecCredential with a token"),
    ],
)
def test_a_command_without_a_token_says_why(script: str, said: str) -> None:
    user = {"exec": {"command": "sh", "args": ["-c", script]}}
    with pytest.raises(ProviderError, match=said):
        read_access(json.dumps(kubeconfig(**user))).token()


def test_a_command_that_is_not_there_is_named() -> None:
    user = {"exec": {"command": "no-such-program"}}
    with pytest.raises(ProviderError, match=r"no-such-program .* does not run: No such file"):
        read_access(json.dumps(kubeconfig(**user))).token()


def test_a_command_gets_its_arguments_and_variables() -> None:
    printed = '{"status": {"token": "%s-%s"}}'
    user = {
        "exec": {
            "command": "sh",
            "args": ["-c", f"printf '{printed}' $0 $NAME", "argument"],
            "env": [{"name": "NAME", "value": "variable"}],
        }
    }
    assert read_access(json.dumps(kubeconfig(**user))).token() == "argument-variable"
