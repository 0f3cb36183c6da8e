"""Conversion of property values between the engine's wire format and Python."""

from __future__ import annotations

from trainyard.sandbox.providers._protocol.values import (
    UNKNOWN,
    from_struct,
    has_unknown,
    name_of,
    secret,
    to_struct,
    type_of,
)

URN = "urn:pulumi:p5-cb::trainyard::a:b:C$eks:index:Cluster$aws:eks/cluster:Cluster::p5::x"


def test_values_come_back_as_they_were_sent() -> None:
    values = {"a": 1, "b": [True, "x", 1.5], "c": {"d": "e"}}
    assert from_struct(to_struct(values)) == values


def test_whole_numbers_are_ints_again() -> None:
    assert isinstance(from_struct(to_struct({"a": 33}))["a"], int)


def test_a_none_is_not_sent() -> None:
    assert from_struct(to_struct({"a": None, "b": {"c": None, "d": 1}})) == {"b": {"d": 1}}


def test_a_secret_is_read_as_its_value() -> None:
    assert from_struct(to_struct({"a": secret("x")})) == {"a": "x"}


def test_an_unknown_is_found_at_any_depth() -> None:
    assert has_unknown({"a": [{"b": UNKNOWN}]})
    assert not has_unknown({"a": [{"b": "known"}]})


def test_a_urn_says_type_and_name_also_below_components() -> None:
    assert type_of(URN) == "aws:eks/cluster:Cluster"
    assert name_of(URN) == "p5::x"
