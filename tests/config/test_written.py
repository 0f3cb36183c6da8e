"""Texts of a stack file that YAML reads as other values."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.stacks import STACKS, stack_config
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.stack_files.stack_files import StackFile, StackFileError, find_stack_file
from trainyard.stack_files.yaml_reader import read_yaml

STACK = """\
config:
  aws:region: us-west-2
  trainyard:cluster:
    name: mine
    tags: {{{tags}}}
    network:
      kind: new-vpc
      availability_zones: [us-west-2a, us-west-2b]
    architecture: {{kind: network, efa_security_group: {flag}}}
"""
CHANGED = {
    "010": "8",
    "0o17": "15",
    "0x1F": "31",
    "0b101": "5",
    "1_000": "1000",
    "1e3": "1000",
    "1.0": "1",
    "1.30": "1.3",
    "+5": "5",
    "True": "true",
    "2026-12-01": "2026-12-01 00:00:00 +0000 UTC",
}
"""Texts, and their values for the engine if they are unquoted."""
KEPT = ("yes", "no", "on", "off", "12:30:45", "8", "-5", "true", "1.2.3", "1:2", "0.0.0.0/0")
QUOTED = tuple(f'"{text}"' for text in CHANGED)
REFUSED = (".inf", "-.INF", ".NaN", "0xFFFFFFFFFFFFFFFFF", "12345678901234567890")


def stack_file(path: Path, *, tags: str = "", flag: str = "true") -> StackFile:
    file = path / "Pulumi.mine.yaml"
    file.write_text(STACK.format(tags=tags, flag=flag), encoding="utf-8")
    return find_stack_file("mine", path=file)


def problems(file: StackFile) -> dict[str, Problem]:
    try:
        load_stack_config(file.cluster, stack_file="Pulumi.mine.yaml", written=file.written)
    except ConfigError as error:
        return {each.path.removeprefix("trainyard:cluster."): each for each in error.problems}
    return {}


@pytest.mark.parametrize(("text", "value"), CHANGED.items())
def test_a_text_that_yaml_changes_is_refused_with_both(
    text: str, value: str, tmp_path: Path
) -> None:
    found = problems(stack_file(tmp_path, tags=f"team: {text}"))["tags.team"]
    assert value in found.problem
    assert found.found == text
    assert found.remedy.endswith(f'in quotes in the stack file: "{text}"')


@pytest.mark.parametrize("text", [*KEPT, *QUOTED])
def test_a_text_that_yaml_keeps_is_accepted(text: str, tmp_path: Path) -> None:
    assert problems(stack_file(tmp_path, tags=f"team: {text}")) == {}


@pytest.mark.parametrize("text", ["010", "1.0", "True"])
def test_a_key_that_yaml_changes_is_refused(text: str, tmp_path: Path) -> None:
    (found,) = problems(stack_file(tmp_path, tags=f"{text}: vision")).values()
    assert found.found == text
    assert "in quotes" in found.remedy


@pytest.mark.parametrize("text", REFUSED)
def test_a_number_that_is_none_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(StackFileError, match=r"line 5.* in quotes"):
        stack_file(tmp_path, tags=f"team: {text}")


@pytest.mark.parametrize("text", ["1e99999", "1.5.2", "0x", "2026-02-30"])
def test_what_looks_like_a_number_or_a_time_and_is_none_is_text(text: str, tmp_path: Path) -> None:
    assert problems(stack_file(tmp_path, tags=f"team: {text}")) == {}


def test_a_boolean_may_be_written_in_capitals(tmp_path: Path) -> None:
    assert problems(stack_file(tmp_path, flag="True")) == {}


def budget(path: Path, written: str) -> Problem | None:
    """Return the problem of a number that is written in a way."""
    text = STACK.format(tags="", flag="true") + f"    budget: {{monthly_usd: {written}}}\n"
    file = path / "Pulumi.mine.yaml"
    file.write_text(text, encoding="utf-8")
    return problems(find_stack_file("mine", path=file)).get("budget.monthly_usd")


@pytest.mark.parametrize(
    ("written", "read", "remedy"),
    [
        ("010", "the octal number 8", "write 10, or 8"),
        ("0100", "the octal number 64", "write 100, or 64"),
        ("08", "the decimal number 8", "write 8"),
        ("0o10", "the octal number 8", "write 8"),
        ("0x10", "the hexadecimal number 16", "write 16"),
        ("0b11", "the binary number 3", "write 3"),
        ("1_000", "the number 1000", "write 1000"),
        ("+010", "the octal number 8", "write 10, or 8"),
    ],
)
def test_a_number_that_readers_of_yaml_differ_about_is_refused(
    written: str, read: str, remedy: str, tmp_path: Path
) -> None:
    """What the engine reads: https://yaml.org/type/int.html, and go-yaml for `08`."""
    found = budget(tmp_path, written)
    assert found is not None
    assert read in found.problem
    assert (found.found, found.remedy) == (written, remedy)


@pytest.mark.parametrize("written", ["10", "1000", "+5", "10.0", "1e3"])
def test_a_number_that_all_readers_of_yaml_read_alike_is_accepted(
    written: str, tmp_path: Path
) -> None:
    assert budget(tmp_path, written) is None


@pytest.mark.parametrize(("written", "number"), [("1:30", "90"), ("1:00:00", "3600")])
def test_digits_with_colons_are_no_number_and_their_value_in_base_60_is_told(
    written: str, number: str, tmp_path: Path
) -> None:
    found = budget(tmp_path, written)
    assert found is not None
    assert f"as {number} (base 60)" in found.problem
    assert found.remedy.endswith(f"monthly_usd' {number}")


def test_a_file_that_was_completed_is_compared_as_it_was_written(tmp_path: Path) -> None:
    file = stack_file(tmp_path, tags="team: 010")
    content = copy.deepcopy(dict(file.content))
    content["config"]["trainyard:cluster"]["policies"] = {}
    assert "tags.team" in problems(StackFile(file.stack, file.path, content))


@pytest.mark.parametrize("mapping", ["team: a, team: b", '"8": a, "8": b'])
def test_a_key_that_stands_there_twice_is_refused(mapping: str, tmp_path: Path) -> None:
    with pytest.raises(StackFileError, match=r"line 5.*twice"):
        stack_file(tmp_path, tags=mapping)


def test_a_merge_key_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.mine.yaml"
    file.write_text("a: &a {x: 1}\nb: &b {x: 2}\nc:\n  <<: *a\n  <<: *b\n", encoding="utf-8")
    with pytest.raises(StackFileError, match="'<<' is there twice"):
        find_stack_file("mine", path=file)


def test_the_own_key_of_a_mapping_wins_over_a_merged_one(tmp_path: Path) -> None:
    text = """\
        base: &base {team: 010, cost: "1"}
        config:
          trainyard:cluster:
            tags: {<<: *base, team: "010"}
        """
    file = tmp_path / "Pulumi.mine.yaml"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    assert read_yaml(file)["config"]["trainyard:cluster"]["tags"]["team"] == "010"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))
    else:
        yield path


PLACES = [
    (stack, place) for stack in STACKS for place in places(stack_config(stack)["trainyard:cluster"])
]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(PLACES),
    st.sampled_from([*CHANGED, *KEPT, "~", "null", "{}", "[]", '""', "!!str 1", "2026-02-30"]),
)
def test_no_field_takes_another_value_without_a_word(
    tmp_path_factory: pytest.TempPathFactory, chosen: tuple[str, tuple[Any, ...]], text: str
) -> None:
    stack, place = chosen
    content = copy.deepcopy(stack_config(stack))
    target = content["trainyard:cluster"]
    for part in place[:-1]:
        target = target[part]
    target[place[-1]] = "@@"
    file = tmp_path_factory.getbasetemp() / f"Pulumi.{stack}.yaml"
    written = yaml.safe_dump({"config": content}).replace("'@@'", text)
    file.write_text(written, encoding="utf-8")
    try:
        read = find_stack_file(stack, path=file)
        config = load_stack_config(
            read.cluster, stack_file=f"Pulumi.{stack}.yaml", written=read.written
        )
    except (ConfigError, StackFileError):
        return
    value: Any = config
    for part in place:
        value = (
            getattr(value, part)
            if isinstance(part, str) and hasattr(value, part)
            else (value[part])
        )
    assert not isinstance(value, str) or value == yaml.load(text, Loader=yaml.BaseLoader)
