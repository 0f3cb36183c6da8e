"""The configuration of the `kubernetes` stand-in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from tests.support.provider_plugin import Call, Plugin, RefusedError
from trainyard.sandbox.kubernetes.credentials import make_credentials
from trainyard.sandbox.providers._protocol.values import UNKNOWN, to_struct
from trainyard.sandbox.providers.kubernetes.cluster import Cluster
from trainyard.sandbox.providers.kubernetes.kubeconfig import Access
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer


def kubeconfig(port: int, token: str = "t") -> str:
    server = {"server": f"https://127.0.0.1:{port}", "certificate-authority-data": "Q0E="}
    return json.dumps(
        {
            "current-context": "one",
            "clusters": [{"name": "c", "cluster": server}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        }
    )


def replaced(before: str, after: str) -> list[str]:
    request = provider_pb2.DiffRequest(
        old_inputs=to_struct({"kubeconfig": before}), news=to_struct({"kubeconfig": after})
    )
    return list(KubernetesServicer().DiffConfig(request, None).replaces)


def test_another_api_server_replaces_the_provider_and_its_objects() -> None:
    assert replaced(kubeconfig(1), kubeconfig(2)) == ["kubeconfig"]


@pytest.mark.parametrize("after", [kubeconfig(1), kubeconfig(1, "renewed")])
def test_another_token_does_not(after: str) -> None:
    assert replaced(kubeconfig(1), after) == []


def test_a_cluster_that_the_preview_does_not_know_yet_does_not_replace() -> None:
    assert replaced(kubeconfig(1), UNKNOWN) == []


def test_configuration_that_would_be_ignored_is_refused() -> None:
    request = provider_pb2.CheckRequest(news=to_struct({"renderYamlToDirectory": "x"}))
    [failure] = KubernetesServicer().CheckConfig(request, None).failures
    assert "renderYamlToDirectory" in failure.reason


@pytest.mark.parametrize("settings", [{}, {"kubeconfig": ""}])
def test_no_kubeconfig_never_means_the_clusters_of_this_machine(settings: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="it needs kubeconfig"):
        Plugin(KubernetesServicer(), **settings)


URN = "urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::x"
READ = provider_pb2.ReadRequest(id="kube-system/x", urn=URN)
DELETE = provider_pb2.DeleteRequest(id="kube-system/x", urn=URN)


@pytest.fixture
def unreachable(tmp_path: Path) -> KubernetesServicer:
    """Return the provider of a cluster whose endpoint does not answer."""
    servicer, authority = KubernetesServicer(), make_credentials(tmp_path)[0]
    access = Access("https://127.0.0.1:9", authority.certificate_authority_data, {"token": "t"})
    servicer.cluster = Cluster(access)
    return servicer


@pytest.mark.parametrize(
    ("call", "request_", "cannot"),
    [
        ("Read", READ, "failed to read resource state due to unreachable cluster"),
        ("Delete", DELETE, "configured Kubernetes cluster is unreachable"),
    ],
)
def test_an_unreachable_cluster_is_not_taken_for_gone_unasked(
    unreachable: KubernetesServicer, call: str, request_: Any, cannot: str
) -> None:
    with pytest.raises(
        RefusedError, match=rf"{cannot}\. If the cluster was deleted, .*_UNREACHABLE"
    ):
        getattr(unreachable, call)(request_, Call())


def test_an_unreachable_cluster_is_gone_where_the_user_says_so(
    unreachable: KubernetesServicer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    assert unreachable.Read(READ, Call()).id == ""
    unreachable.Delete(DELETE, Call())


def test_a_chart_is_refused_with_its_type() -> None:
    plugin = Plugin(KubernetesServicer(), kubeconfig=UNKNOWN)
    with pytest.raises(RefusedError, match=r"kubernetes:helm\.sh/v3:Release"):
        plugin.check("kubernetes:helm.sh/v3:Release", {})


@pytest.mark.parametrize(
    ("call", "request_", "named"),
    [
        (
            "Construct",
            provider_pb2.ConstructRequest(type="kubernetes:yaml/v2:ConfigFile"),
            "yaml/v2",
        ),
        ("Invoke", provider_pb2.InvokeRequest(tok="kubernetes:yaml:decode"), "yaml:decode"),
        ("Call", provider_pb2.CallRequest(tok="kubernetes:x:y/z"), "x:y/z"),
    ],
)
def test_what_only_the_official_plugin_does_is_named(call: str, request_: Any, named: str) -> None:
    with pytest.raises(RefusedError, match=named):
        getattr(KubernetesServicer(), call)(request_, Call())
