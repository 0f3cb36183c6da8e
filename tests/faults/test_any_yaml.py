"""Any stack file is read as the engine reads it, or refused with a message, in limited time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.faults.support.fuzzing import takes_less_than
from trainyard.cli import options
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.stack_files import StackFileError, find_stack_file
from trainyard.stack_files.yaml_limits import (
    DEEPEST,
    LARGEST_BYTES,
    MOST_NODES,
    UnreadableYamlError,
)
from trainyard.stack_files.yaml_reader import read_yaml, write_yaml

SECONDS = 20.0
"""Time limit for reading the largest accepted file."""
SOUND = "config:\n  aws:region: us-west-2\n  trainyard:cluster:\n    name: x\n"


def laughs(element: str, join: str) -> str:
    levels = [f"a0: &a0 {element}"]
    for level in range(1, 12):
        nine = ",".join([f"*a{level - 1}"] * 9)
        levels.append(f"a{level}: &a{level} {join.format(nine)}")
    return "\n".join(levels) + "\n"


REFUSED = {
    "laughs": (laughs("[x]", "[{}]"), "more than 100000 values"),
    "laughs by merging": (laughs("{k: v}", "{{<<: [{}]}}"), "more than 100000 values"),
    "an alias of itself": ("config: &c\n  a:b: [*c]\n", "line 2: .*contains itself"),
    "an alias of itself as key": ("config: &c {? *c : 1}\n", "line 1: .*contains itself"),
    "an alias of nothing": ("config: *nope\n", "line 1: .*undefined alias"),
    "too deep in brackets": (f"a: {'[' * 50_000}\n", f"more than {DEEPEST} levels"),
    "too deep in lines": (
        "".join(f"{' ' * n}a:\n" for n in range(DEEPEST + 1)),
        f"more than {DEEPEST} levels",
    ),
    "too many values": (f"a: [{'1,' * (MOST_NODES + 1)}]\n", "more than 100000 values"),
    "too large": (f"a: {'x' * LARGEST_BYTES}\n", "more than 1000000 bytes"),
    "a key twice": (f"{SOUND}    name: y\n", "line 5: .*'name' is there twice"),
    "a key twice at the top": (f"{SOUND}config: 1\n", "'config' is there twice"),
    "a mapping as key": ("config:\n  ? {a: b}\n  : 1\n", "line 2: .*a key is not text"),
    "merging a number": (f"{SOUND}    <<: 5\n", "line 5: .*expected a mapping"),
    "an object": ("a: !!python/object/apply:os.system [touch x]\n", "line 1: .*python/object"),
    "a tag of its own": ("a: 1\nb: !mine x\n", "line 2: .*the tag '!mine'"),
    "a tag that does not fit": ("a: !!int x\n", "the tag"),
    "bytes": ("a: !!binary aGVsbG8=\n", "the tag"),
    "no number": ("a: 1\nb: .nan\n", "line 2: .*`.nan` is not a number"),
    "infinity": ("a: -.inf\n", "is not a number"),
    "digits that are lost": ("a: 9007199254740993\n", "more than 53 bits"),
    "a huge number": (f"a: 0x{'f' * 5000}\n", "more than 53 bits"),
    "a tab": ("a:\n\tb: 1\n", "line 2"),
    "two documents": ("a: 1\n---\nb: 1\n", "another document"),
    "a NUL": ("a: 1\nb: x\0y\n", "line 2: .*U\\+0000"),
    "an escape sequence": ("a: 1\n\n'\x1b[2J': x\n", "line 3: .*U\\+001B"),
    "half a character": ('a: "\\ud800"\n', "line 1"),
    "open brackets": ("a:\n  b: [1\n", "line 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_too_much_or_ambiguous_is_refused_with_its_line(
    tmp_path: Path, name: str
) -> None:
    text, said = REFUSED[name]
    path = tmp_path / "stack.yaml"
    path.write_text(text, encoding="utf-8")
    with takes_less_than(SECONDS), pytest.raises(StackFileError, match=said) as refusal:
        find_stack_file("x", path=path)
    assert str(path) in str(refusal.value)
    assert str(refusal.value).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: \xff\n", "line 1: .*not UTF-8"),
        ("a: 1\n".encode("utf-16"), "not UTF-8"),
        (b"config:\n  5: a\n", "Pulumi does not accept"),
        (b"config: [1]\n", "not a stack file"),
        (b"text", "not a stack file"),
    ],
)
def test_bytes_that_are_no_stack_file_are_refused(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "stack.yaml"
    path.write_bytes(content)
    with pytest.raises(StackFileError, match=said):
        find_stack_file("x", path=path)


def test_a_file_of_windows_with_a_mark_at_its_beginning_is_read(tmp_path: Path) -> None:
    path = tmp_path / "stack.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode())
    assert find_stack_file("x", path=path).cluster == {"name": "x"}


@pytest.mark.parametrize("kind", ["directory", "fifo", "device", "circle", "nothing", "long"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "stack.yaml"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "circle":
        path.symlink_to(tmp_path / "other.yaml")
        (tmp_path / "other.yaml").symlink_to(path)
    elif kind == "long":
        path = tmp_path / ("x" * 300)
    with pytest.raises(StackFileError, match=r"regular file|no such stack file"):
        options.target("x", path=path, sandbox=False)


@pytest.mark.parametrize(
    "stack", ["", "..", "../x", "a/b", "-x", "--help", "a b", "a\nb", "x" * 101, "$(x)", "\x1b[2J"]
)
def test_a_name_that_leads_out_of_its_directory_is_no_stack(tmp_path: Path, stack: str) -> None:
    path = tmp_path / "stack.yaml"
    path.write_text(SOUND, encoding="utf-8")
    for given_path in (None, path):
        with pytest.raises(StackFileError, match="not a valid stack name") as refusal:
            find_stack_file(stack, path=given_path)
        assert "\x1b" not in str(refusal.value)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    st.text(st.characters(codec="utf-8")),
    st.sampled_from(
        ["no", "on", "1e3", "0o17", "017", "1_000", "1:30", "2026-01-01", ".5", "~", "<<", "="]
    ),
    st.sampled_from(
        ["!x", "&a", "*a", "- a", "a: b", "{{ x }}", "${x}", "%s", "#", "0x_", "+.inf"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_for_the_engine_is_read_again_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    """In a sandbox the engine reads a copy, in which `1e3` in quotes must not become a number."""
    path = tmp_path_factory.mktemp("yaml") / "stack.yaml"
    write_yaml(path, {"value": value})
    assert read_yaml(path) == {"value": value}


PIECES = st.sampled_from(
    [
        *("a: ", "b: ", "- ", "\n", "\n  ", "\n    ", "{", "}", "[", "]", ",", "? ", ": ", "#"),
        *("|\n", ">\n", "&a ", "*a", "<<: ", "!!int ", "!x ", "!!set ", '"', "'", "\\"),
        *("---\n", "...\n", "\t", "%YAML 1.1\n", "\x00", "\ufeff", "\u2028"),
        *("no", "1e3", "0x", ".nan", "1:30", "2026-02-30"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=40))
def test_any_text_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    path = tmp_path_factory.mktemp("yaml") / "stack.yaml"
    path.write_text("".join(pieces), encoding="utf-8", errors="surrogatepass")
    assert refusal_of(path) is None or str(path) in str(refusal_of(path))


def refusal_of(path: Path) -> UnreadableYamlError | None:
    try:
        read_yaml(path)
    except UnreadableYamlError as error:
        return error
    return None


@pytest.mark.parametrize("value", [10**5000, float("nan")], ids=["long", "none"])
def test_a_number_that_came_another_way_is_refused_by_the_schema(value: float) -> None:
    """The program gets its configuration from the engine, not from a file."""
    with pytest.raises(ConfigError):
        load_stack_config({"name": "x", "tags": {"x": value}}, stack_file="Pulumi.x.yaml")


def test_a_depth_that_came_another_way_is_refused_by_the_schema() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_stack_config({"name": "x", "tags": value}, stack_file="Pulumi.x.yaml")
