"""Fields of stack files accept the same values as their AWS parameters.

`tools/catalog/parameters.yaml` maps fields to parameters of AWS APIs; their constraints are those
of botocore.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.contract.support.config_leaves import (
    Leaf,
    leaves,
    metadata,
    type_names,
)
from tests.support.constraints import CONSTRAINTS, extremes, in_python, width
from tools.catalog.constraints import DATA_FILE, LinkError, constraints, generate, links
from trainyard.components.config.base import Form

REGION = "us-west-2"
NUMBERS = {"integer", "long", "double", "float"}
SIZED = {"list", "map"}


def pairs() -> Iterator[tuple[Leaf, str]]:
    """Yield each type or field with each of its parameters that has constraints, once."""
    seen = set[tuple[str, str]]()
    for leaf in leaves():
        for parameter in leaf.link.parameters if leaf.link else ():
            key = (leaf.type_name or leaf.name, parameter)
            if len(CONSTRAINTS[parameter]) > 1 and key not in seen:
                seen.add(key)
                yield leaf, parameter


PAIRS = list(pairs())
WEAKER = [pair for pair in PAIRS if not pair[0].link.stricter_in]
WHOLE = [pair for pair in PAIRS if not pair[0].link.narrower]


def of_kind(chosen: list[tuple[Leaf, str]], kinds: set[str], *, choices: bool = False) -> Any:
    found = [
        pytest.param(leaf, CONSTRAINTS[parameter], id=f"{leaf.type_name or leaf.name}-{parameter}")
        for leaf, parameter in chosen
        if CONSTRAINTS[parameter]["type"] in kinds and bool(leaf.choices) is choices
    ]
    return pytest.mark.parametrize(("leaf", "limits"), found)


def named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def becomes(leaf: Leaf, value: Any) -> Any:
    """Return the value of the parameter for a value of the field."""
    mapped = named(leaf.link.mapped) if leaf.link.mapped else None
    if isinstance(mapped, Mapping):
        return mapped[value]
    return mapped(value, REGION) if mapped else leaf.link.form.format(value)


def accepts(leaf: Leaf, value: Any) -> bool:
    try:
        leaf.adapter.validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True


def bounds(leaf: Leaf) -> tuple[float, float]:
    """Return the smallest and the largest number, or number of entries."""
    least, most = float("-inf"), float("inf")
    for item in metadata(leaf.annotation):
        least = max(least, getattr(item, "ge", getattr(item, "min_length", least)))
        most = min(most, getattr(item, "le", getattr(item, "max_length", most)))
    allowed = list(numbers([named(path) for path in leaf.link.values]))
    return (min(allowed), max(allowed)) if allowed else (least, most)


def numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, Mapping):
        yield from numbers(list(value.values()))
    else:
        for item in value:
            yield from numbers(item)


def form_of(leaf: Leaf) -> Form | None:
    return next((item for item in metadata(leaf.annotation) if isinstance(item, Form)), None)


@cache
def accepted(leaf: Leaf) -> st.SearchStrategy[str]:
    """Return values of a text field, including those at its limits."""
    form = form_of(leaf)
    if form is None:
        least, most = (int(bound) for bound in bounds(leaf))
        some = st.text(min_size=least, max_size=most)
        ends = {"a" * least, "a" * most}
    else:
        # Generated texts would match a look-ahead for the length only by chance.
        some = matching(re.sub(r"^\(\?=[^)]*\)", "", form.pattern))
        ends = extremes(form.pattern, lambda text: accepts(leaf, text))
    ends = {end for end in ends if accepts(leaf, end)}
    assert ends, f"{leaf.name} accepts no value at its limits"
    return st.sampled_from(sorted(ends)) | some.filter(lambda value: accepts(leaf, value))


def matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="ascii"))


def fits(value: str, limits: Mapping[str, Any]) -> bool:
    """Return whether a parameter accepts a text."""
    pattern = limits.get("pattern")
    return (
        limits.get("min", 0) <= len(value) <= limits.get("max", len(value))
        and (pattern is None or re.fullmatch(in_python(pattern), value) is not None)
        and ("enum" not in limits or value in limits["enum"])
    )


def test_the_constraints_are_those_of_the_installed_botocore() -> None:
    """Made with `python -m tools.catalog.constraints`."""
    assert DATA_FILE.read_text(encoding="utf-8") == generate()


def test_every_field_becomes_a_parameter_or_says_why_it_becomes_none() -> None:
    assert [leaf.name for leaf in leaves() if leaf.link is None] == []


def test_every_link_is_that_of_a_field_or_a_type() -> None:
    known = {leaf.name for leaf in leaves()} | set(type_names().values())
    assert links().keys() - known == set()


def test_every_link_names_parameters_or_a_reason_and_every_rule_has_a_source() -> None:
    for name, link in links().items():
        assert bool(link.parameters) != bool(link.none), name
        assert link.source.startswith("https://") or not link.narrower, name
        for path in (link.stricter_in, link.mapped, *link.values):
            assert not path or named(path) is not None


@pytest.mark.parametrize(
    "name",
    ["eks.CreateCluster.nom", "eks.MakeCluster.name", "eck.CreateCluster.name"],
)
def test_a_parameter_that_botocore_does_not_know_is_refused(name: str) -> None:
    with pytest.raises(LinkError, match=re.escape(name)):
        constraints(name)


@of_kind(WEAKER, NUMBERS | SIZED)
def test_a_number_is_at_most_as_large_as_the_parameter(leaf: Leaf, limits: Any) -> None:
    least, most = bounds(leaf)
    assert least >= limits.get("min", least) or leaf.is_sized
    assert most <= limits.get("max", most)


@of_kind(WEAKER, {"string", "integer"}, choices=True)
def test_each_choice_is_one_of_the_parameter(leaf: Leaf, limits: Any) -> None:
    assert {becomes(leaf, choice) for choice in leaf.choices} <= set(limits["enum"])


@of_kind([pair for pair in WEAKER if form_of(pair[0]) and not pair[0].link.mapped], {"string"})
def test_a_text_is_at_most_as_long_as_the_parameter(leaf: Leaf, limits: Any) -> None:
    form = form_of(leaf)
    assert form is not None
    least, most = width(form.pattern)
    around = len(leaf.link.form.format(""))
    assert least + around >= limits.get("min", 0)
    assert most + around <= limits.get("max", most + around)


@of_kind(WEAKER, {"string"})
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_text_that_is_accepted_fits_the_parameter(leaf: Leaf, limits: Any, data: Any) -> None:
    value = becomes(leaf, data.draw(accepted(leaf)))
    assert fits(value, limits), (value, limits)


@of_kind(WHOLE, NUMBERS)
def test_a_number_at_the_limits_of_the_parameter_is_accepted(leaf: Leaf, limits: Any) -> None:
    for limit in ("min", "max"):
        assert limit not in limits or accepts(leaf, limits[limit])


@of_kind(WHOLE, {"string"}, choices=True)
def test_each_choice_of_the_parameter_is_accepted(leaf: Leaf, limits: Any) -> None:
    assert {becomes(leaf, choice) for choice in leaf.choices} == set(limits["enum"])


@of_kind(WHOLE, {"string"})
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_text_that_fits_the_parameter_is_accepted(leaf: Leaf, limits: Any, data: Any) -> None:
    pattern = in_python(limits["pattern"])
    fitting = extremes(pattern, lambda text: fits(text, limits))
    values = st.sampled_from(sorted(fitting))
    if limits.get("min") != limits.get("max"):
        values |= matching(pattern).filter(lambda value: fits(value, limits))
    value = data.draw(values)
    assert accepts(leaf, value), value


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.name)
def test_a_documented_limit_is_not_that_of_the_model(leaf: Leaf) -> None:
    """An exception for a stricter rule is removed with the rule."""
    link = leaf.link
    if not link or not link.narrower or not leaf.choices or link.mapped:
        return
    enums = [CONSTRAINTS[name].get("enum", ()) for name in link.parameters]
    assert set(leaf.choices) not in map(set, enums)
