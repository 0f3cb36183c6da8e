"""The small client of the Kubernetes API."""

from __future__ import annotations

import base64

import pytest
import urllib3

from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from trainyard.sandbox.kubernetes.credentials import make_credentials


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return make_credentials(tmp_path_factory.mktemp("pki"))[0].certificate_authority_data


def test_a_server_that_is_not_there_is_named(authority):
    api = KubernetesApi("https://127.0.0.1:9", certificate_authority_data=authority, token="t")
    with pytest.raises(ApiUnreachableError, match=r"https://127\.0\.0\.1:9 does not answer"):
        api.get("/version")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("not base64!", id="not-base64"),
        pytest.param(base64.b64encode(b"no certificate").decode(), id="not-pem"),
        pytest.param(base64.b64encode(b"\xff\xfe").decode(), id="not-text"),
    ],
)
def test_refuses_what_is_no_certificate(data):
    with pytest.raises(ValueError, match="not base64 of a PEM certificate"):
        KubernetesApi("https://127.0.0.1:9", certificate_authority_data=data, token="t")


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9", "127.0.0.1:9", ""])
def test_refuses_an_endpoint_that_is_not_https(authority, endpoint):
    with pytest.raises(ValueError, match="is not an HTTPS URL"):
        KubernetesApi(endpoint, certificate_authority_data=authority, token="t")


@pytest.mark.kubernetes
def test_the_servers_explanation_is_kept(control_plane):
    with pytest.raises(ApiError, match='404: pods "absent" not found'):
        control_plane.administrator().get("/api/v1/namespaces/default/pods/absent")


@pytest.mark.kubernetes
def test_a_server_with_a_certificate_of_somebody_else_is_not_spoken_to(control_plane, authority):
    api = KubernetesApi(control_plane.endpoint, certificate_authority_data=authority, token="t")
    with pytest.raises(ApiUnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        api.get("/version")


def test_a_list_that_is_not_ready_is_asked_for_again(authority, monkeypatch):
    """As right after the definition of a kind of objects."""
    answers = [
        urllib3.HTTPResponse(status=429, headers={"Retry-After": "0"}, body=b"{}"),
        urllib3.HTTPResponse(status=200, body=b'{"items": []}'),
    ]
    monkeypatch.setattr(
        urllib3.HTTPSConnectionPool, "_make_request", lambda *_, **__: answers.pop(0)
    )
    api = KubernetesApi("https://127.0.0.1:9", certificate_authority_data=authority, token="t")
    assert api.get("/apis/example.com/v1/things") == {"items": []}
