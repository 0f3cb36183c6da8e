"""Inputs as the API server stores them."""

from __future__ import annotations

import pytest

from trainyard.sandbox.providers.kubernetes.servicer import normal, quantity


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("1024Mi", "1Gi"),
        ("5120Mi", "5Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("0.5", "500m"),
        (2, "2"),
        ("1500", "1500"),
        ("2000", "2k"),
        ("0", "0"),
        ("1e3", "1k"),
        ("lots", "lots"),
    ],
)
def test_a_quantity_has_one_form(written: str | float, kept: str) -> None:
    assert quantity(written) == kept


def test_what_the_api_server_writes_is_no_input() -> None:
    metadata = {"name": "x", "uid": "1", "resourceVersion": "2"}
    assert normal({"kind": "ConfigMap", "metadata": metadata})["metadata"] == {"name": "x"}


def test_the_text_of_a_secret_is_data() -> None:
    found = normal({"kind": "Secret", "data": {"a": "YQ=="}, "stringData": {"b": "b"}})
    assert found == {"kind": "Secret", "data": {"a": "YQ==", "b": "Yg=="}}
