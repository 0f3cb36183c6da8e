"""The tags of an image, as a registry lists them publicly."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tools.pins.image_tags import image_tags
from trainyard.components.compute.image_registry import RegistryAnswer, RegistryError


def http(status: int, body: object = None, **headers: str) -> RegistryAnswer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RegistryAnswer(status=status, headers=named, body=json.dumps(body).encode())


class Registry:
    """A registry that requires a token, and lists its tags in two pages."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, url: str, headers: Mapping[str, str]) -> RegistryAnswer:
        self.asked.append(url)
        if url.startswith("https://auth.example.org/token?"):
            return http(200, {"token": "abc"})
        if headers.get("Authorization") != "Bearer abc":
            challenge = 'Bearer realm="https://auth.example.org/token",service="example.org"'
            return http(401, {}, www_authenticate=challenge)
        if "last=" in url:
            return http(200, {"tags": ["v2"]})
        return http(200, {"tags": ["v1"]}, link='</v2/a/b/tags/list?n=1000&last=v1>; rel="next"')


def test_a_registry_lists_its_tags_to_an_anonymous_reader_page_by_page() -> None:
    registry = Registry()

    assert image_tags("example.org/a/b", registry) == ["v1", "v2"]
    assert registry.asked[1] == (
        "https://auth.example.org/token?service=example.org&scope=repository%3Aa%2Fb%3Apull"
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (http(404, {}), r"does not list the tags of example\.org/a/b to everybody \(HTTP 404\)"),
        (
            http(401, {}, www_authenticate="Basic"),
            "the registry of example.org/a/b wants credentials",
        ),
        (RegistryAnswer(status=200, headers={}, body=b"<html>"), r"\(HTTP 200\)"),
    ],
)
def test_a_registry_that_does_not_answer_so_is_refused(answer: RegistryAnswer, reason: str) -> None:
    with pytest.raises(RegistryError, match=reason):
        image_tags("example.org/a/b", lambda _url, _headers: answer)
