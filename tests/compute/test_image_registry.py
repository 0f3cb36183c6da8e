"""Images are looked up as registries document it, and only their own 404 says that one is missing.

The responses are those of the documentation:
    https://github.com/opencontainers/distribution-spec, spec.md
    https://distribution.github.io/distribution/spec/auth/token/
    https://docs.docker.com/docker-hub/usage/pulls/: the response over the limit
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from trainyard.components.compute.image_registry import (
    EMULATED_REGISTRIES,
    is_public,
    look_up_public_images,
)

IMAGE = "registry.example/team/tool:v1"
MANIFESTS = "/registry.example/v2/team/tool/manifests/"
UNKNOWN = {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}
INDEX = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [
        {"platform": {"architecture": "amd64", "os": "linux"}},
        {"platform": {"architecture": "unknown", "os": "unknown"}},
    ],
}

Given = tuple[int, dict[str, str], Any]
Respond = Callable[[str, str, dict[str, str]], Given]


HANGS_UP: Given = (0, {}, b"")
GARBLES: Given = (0, {}, b"SSH-2.0-OpenSSH_9.6\r\n")


class Registry:
    """A registry on this machine, which records its requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.respond: Respond = lambda _method, _path, _headers: (200, {}, INDEX)
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def _handle(self) -> None:
                registry.requests.append((self.command, self.path))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, more, body = registry.respond(self.command, self.path, headers)
                if status == 0:
                    self.wfile.write(body)
                    self.close_connection = True
                    return
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**more, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = _handle  # noqa: N815 - names of http.server

            def log_message(self, *_: Any) -> None:
                """Write nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    made = Registry()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv(EMULATED_REGISTRIES, made.address)
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def look_up(*images: str, architecture: str = "x86_64") -> Any:
    found = look_up_public_images({each: {architecture} for each in images or (IMAGE,)})
    return found if images else found[IMAGE]


def test_an_image_that_exists_is_found_without_counting_as_a_pull(registry):
    assert (look_up().missing, look_up().unknown) == (None, None)
    assert set(registry.requests) == {("HEAD", f"{MANIFESTS}v1")}


def test_a_registry_gives_everybody_a_token_and_is_asked_again(registry):
    """As ECR Public: one token for all repositories of the registry."""
    challenge = f'Bearer realm="{registry.address}/token",service="registry.example",scope="aws"'

    def respond(_method: str, path: str, headers: dict[str, str]) -> Given:
        if path.startswith("/token"):
            return 200, {}, {"token": "abc"}
        if headers.get("authorization") == "Bearer abc":
            assert "application/vnd.oci.image.index.v1+json" in headers["accept"]
            return 200, {}, INDEX
        return 401, {"WWW-Authenticate": challenge}, {}

    registry.respond = respond
    found = look_up(IMAGE, "registry.example/team/other:v2")
    assert all(each.unknown is None and each.missing is None for each in found.values())
    tokens = [path for _, path in registry.requests if path.startswith("/token")]
    assert tokens == ["/token?service=registry.example&scope=aws"]


@pytest.mark.parametrize("code", ["MANIFEST_UNKNOWN", "NAME_UNKNOWN"])
def test_an_image_that_its_registry_does_not_know_is_missing(registry, code):
    registry.respond = lambda *_: (404, {}, {"errors": [{"code": code, "message": "no"}]})
    assert look_up().missing == f"HTTP 404, {code}: no"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((404, {}, b"<html>blocked by the proxy</html>"), "not the error of a registry"),
        ((401, {"WWW-Authenticate": 'Basic realm="r"'}, {}), "private, or does not exist"),
        ((403, {}, {"errors": [{"code": "DENIED"}]}), "private, or does not exist"),
        ((429, {}, b"You have reached your pull rate limit."), "HTTP 429"),
        ((503, {}, b""), "HTTP 503"),
    ],
)
def test_what_says_nothing_of_the_image_is_no_refusal(registry, given, words):
    registry.respond = lambda *_: given
    found = look_up()
    assert found.missing is None
    assert words in found.unknown


def test_a_registry_that_does_not_answer_is_not_asked_for_its_other_images(registry):
    registry.respond = lambda *_: HANGS_UP
    found = look_up(IMAGE, "registry.example/team/other:v2")
    assert {each.missing for each in found.values()} == {None}
    assert all("cannot be reached" in each.unknown for each in found.values())
    assert len(registry.requests) == 1


def test_an_answer_that_is_no_http_is_one_of_no_registry(registry):
    registry.respond = lambda *_: GARBLES
    assert "cannot be reached" in look_up().unknown


def test_a_registry_that_never_answers_does_not_hold_the_command(registry):
    ended = threading.Event()

    def never(*_: Any) -> Given:
        ended.wait()
        return 200, {}, INDEX

    registry.respond = never
    found = look_up_public_images({IMAGE: {"x86_64"}}, lookup_seconds=0.1)[IMAGE]
    ended.set()
    assert (found.missing, found.unknown) == (None, "no answer in 0.1 s")


def test_nodes_with_arm_need_an_image_for_it(registry):
    assert look_up(architecture="arm64").missing == "it has amd64, but not arm64"
    assert registry.requests == [("GET", f"{MANIFESTS}v1")]


def test_the_manifest_of_one_image_says_nothing_of_its_platform(registry):
    registry.respond = lambda *_: (200, {}, {"schemaVersion": 2, "config": {}})
    assert look_up(architecture="arm64").missing is None


def test_docker_hub_is_not_asked_for_what_counts_as_a_pull(registry):
    look_up("docker.io/team/tool:v1", architecture="arm64")
    assert {method for method, _ in registry.requests} == {"HEAD"}


def test_private_registries_of_ecr_are_not_asked_as_everybody():
    assert not is_public("123456789012.dkr.ecr.us-west-2.amazonaws.com/mine:1")
    assert is_public("public.ecr.aws/team/tool:1")
