"""The token for reading `aws-auth`, and messages if it cannot be read."""

from __future__ import annotations

import base64
import io
import json
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, urlsplit

import pytest

from trainyard.components.account.reader import AccountReader
from trainyard.components.eks import lookup
from trainyard.components.eks.lookup import AWS_AUTH, read_aws_auth, token

CLUSTER = {
    "name": "p5-cb",
    "status": "ACTIVE",
    "endpoint": "https://0123.gr7.us-west-2.eks.amazonaws.com",
    "certificateAuthority": {"data": base64.b64encode(b"PEM").decode()},
}


@pytest.fixture
def reader(monkeypatch) -> AccountReader:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(lookup.ssl, "create_default_context", lambda cadata: cadata)
    return AccountReader(region="us-west-2")


@pytest.fixture
def api(monkeypatch):
    """Answer one request with a document or an error; return the requests."""
    asked: list[Any] = []

    def _api(answer: dict[str, Any] | Exception):
        def urlopen(request, **_: Any):
            asked.append(request)
            if isinstance(answer, Exception):
                raise answer
            return io.BytesIO(json.dumps(answer).encode())

        monkeypatch.setattr(lookup, "urlopen", urlopen)
        return asked

    return _api


def test_the_token_is_a_presigned_call_that_names_the_cluster(reader):
    prefix, _, content = token(reader, "p5-cb").partition(".")
    url = urlsplit(base64.urlsafe_b64decode(content + "==").decode())
    query = {key: value[0] for key, value in parse_qs(url.query).items()}
    assert prefix == "k8s-aws-v1"
    assert "=" not in content
    assert url.hostname == "sts.us-west-2.amazonaws.com"
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert query["X-Amz-Credential"].startswith("AKIAEXAMPLE/")


def test_the_signature_is_one_of_this_cluster_only(reader, monkeypatch):
    events = reader.sts.meta.events
    seen: list[str] = []
    events.register_last(
        "before-sign.sts.GetCallerIdentity",
        lambda request, **_: seen.append(str(request.headers.get("x-k8s-aws-id"))),
    )
    token(reader, "a")
    token(reader, "b")
    reader.sts.generate_presigned_url("get_caller_identity")
    assert seen == ["a", "b", "None"]


def test_the_map_is_read_with_that_token(reader, api):
    asked = api({"data": {"mapRoles": "[]"}})
    assert read_aws_auth(reader, CLUSTER) == {"mapRoles": "[]"}
    (request,) = asked
    assert request.full_url.endswith("/api/v1/namespaces/kube-system/configmaps/aws-auth")
    assert request.get_header("Authorization").startswith("Bearer k8s-aws-v1.")
    assert reader.unreadable == []


@pytest.mark.parametrize(
    "answer",
    [{"data": None}, {}, HTTPError("", 404, "Not Found", None, None)],  # type: ignore[arg-type]
)
def test_no_map_is_an_empty_one(reader, api, answer):
    api(answer)
    assert read_aws_auth(reader, CLUSTER) == {}
    assert reader.unreadable == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HTTPError("", 401, "Unauthorized", None, None), "401 Unauthorized"),  # type: ignore[arg-type]
        (URLError("no route to host"), "no route to host"),
        (TimeoutError("timed out"), "timed out"),
    ],
)
def test_a_map_that_cannot_be_read_is_said_to_be_unchecked(reader, api, answer, words):
    api(answer)
    assert read_aws_auth(reader, CLUSTER) is None
    (line,) = reader.unreadable
    assert line.startswith(AWS_AUTH)
    assert words in line


def test_a_cluster_that_is_still_made_has_no_endpoint_to_ask(reader):
    assert read_aws_auth(reader, {"name": "p5-cb", "status": "CREATING"}) is None
    assert "CREATING" in reader.unreadable[0]
