"""The template at a URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cloudformation import PROVIDER_URL
from trainyard.sandbox.aws.cloudformation.engine import STAND_IN
from trainyard.sandbox.aws.cloudformation.templates import TemplateUrlError, location, template_at

VERSION = "3.16.1"


def read(bucket: str, key: str) -> str:
    if (bucket, key) != ("mine", "some/template.yaml"):
        raise KeyError("The specified key does not exist.")
    return "mine"


@pytest.mark.parametrize(
    "url",
    [
        "https://mine.s3.us-west-2.amazonaws.com/some/template.yaml",
        "https://mine.s3.amazonaws.com/some/template.yaml",
        "https://mine.s3-us-west-2.amazonaws.com/some/template.yaml",
        "https://s3.us-west-2.amazonaws.com/mine/some/template.yaml",
        "https://s3.amazonaws.com/mine/some/template.yaml",
        "http://127.0.0.1:5599/mine/some/template.yaml",
    ],
)
def test_every_form_of_url_leads_to_the_object(url: str) -> None:
    assert location(url) == ("mine", "some/template.yaml")
    assert template_at(url, read, STAND_IN, VERSION) == "mine"


def test_the_official_template_is_the_stand_in_and_says_so() -> None:
    text = template_at(PROVIDER_URL, read, STAND_IN, VERSION)
    assert "Description: Sandbox stand-in for" in text
    assert text == Path(STAND_IN).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.com/template.yaml", "must be a supported URL"),
        ("https://s3.us-west-2.amazonaws.com/only-a-bucket", "must be a supported URL"),
        ("https://mine.s3.us-west-2.amazonaws.com/other", "S3 error: The specified key"),
        (PROVIDER_URL.replace("3.16.1", "3.15.0"), "of ParallelCluster 3.16.1 only"),
        (PROVIDER_URL.replace("cluster.yaml", "other.yaml"), "S3 error: The specified key"),
    ],
)
def test_a_url_without_a_template_is_refused(url: str, said: str) -> None:
    with pytest.raises(TemplateUrlError, match=said):
        template_at(url, read, STAND_IN, VERSION)
