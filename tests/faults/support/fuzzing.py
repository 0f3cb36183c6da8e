"""Number of examples of property tests: few in CI, and any number in manual runs."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tests.support.policy import UNKNOWN, Declared, Program, RulePrograms


def examples(few: int) -> int:
    """Return the number of examples: `TRAINYARD_FUZZ_EXAMPLES`, or else `few`."""
    return int(os.environ.get("TRAINYARD_FUZZ_EXAMPLES") or few)


Path = tuple[Any, ...]
DROPPED = object()
"""Represents a missing property."""
DEEP = "[" * 5000
"""Text that makes JSON parsers fail."""
ODD: tuple[Any, ...] = (
    *(DROPPED, None, UNKNOWN, "", True, False, 0, -1, 1.5, 10**30, 1e308),
    *("x", "10", "true", "\x1b[2J", "{", "[]", "null", "NaN", "1" * 5000, DEEP),
    *([], {}, [None], [[]], [{}], ["x"], [UNKNOWN], [["x"]], ["x"] * 1000),
    *({"x": "y"}, {"": None}, {"id": UNKNOWN}, {"x": {"x": [{"x": []}]}}),
)
"""Values that no schema promises, and some that are possible."""
SPELLINGS = ("numbers as text", "lists of one without their list", "single values in lists")
_DOCUMENT = "document"
"""The step of a path into a property that is JSON."""


def places(program: Program) -> list[tuple[int, Path]]:
    """Return every property of a program, nested ones too, as resource and path."""
    return [
        (index, path)
        for index, declared in enumerate(program)
        for path in paths(dict(declared.props))
        if path
    ]


@st.composite
def odd_programs(draw: st.DrawFn, programs: RulePrograms) -> Program:
    """Return a program of a rule's tests with one to three properties of another type."""
    program = draw(st.sampled_from([*programs.violating, *programs.clean]))
    for _ in range(draw(st.integers(1, 3))):
        if found := places(program):
            index, path = draw(st.sampled_from(found))
            program = changed(program, index, path, draw(st.sampled_from(ODD)))
    return program


def changed(program: Program, index: int, path: Path, value: Any) -> Program:
    """Return a program with another value at one path."""
    declared = program[index]
    props = put(dict(declared.props), path, value)
    return (*program[:index], replace(declared, props=props), *program[index + 1 :])


def respelled(program: Program, spelling: str) -> Program:
    """Return an equivalent program, in one of `SPELLINGS`."""

    def of(declared: Declared) -> Declared:
        props = {key: _respelled(value, spelling) for key, value in declared.props.items()}
        return replace(declared, props=props)

    return tuple(map(of, program))


def _document(value: Any) -> Any:
    """Return the document that a property holds as JSON, or None."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield every path in a value, including those in documents that it contains as JSON."""
    yield path
    document = _document(value)
    if document is not None:
        yield from paths(document, (*path, _DOCUMENT))
    entries: Any = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, list | tuple):
        # The first of equal entries represents all of them.
        entries = enumerate(value[:2])
    for key, inner in entries:
        yield from paths(inner, (*path, key))


def put(value: Any, path: Path, new: Any) -> Any:
    """Return a value with another one at one of its paths, or without that path."""
    step, rest = path[0], path[1:]
    if isinstance(value, str):
        document = _document(value)
        return value if new is DROPPED and not rest else json.dumps(_in(document, rest, new))
    entries = dict(value) if isinstance(value, Mapping) else [*value]
    inner = _in(entries[step], rest, new)
    if inner is DROPPED:
        del entries[step]
    else:
        entries[step] = inner
    return entries


def _in(value: Any, path: Path, new: Any) -> Any:
    return put(value, path, new) if path else new


def _respelled(value: Any, spelling: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _respelled(inner, spelling) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _list_respelled(value, spelling)
    if spelling == "single values in lists" and value is not None and value != UNKNOWN:
        return [value]
    document = _document(value)
    if document is not None:
        return json.dumps(_respelled(document, spelling))
    return _as_text(value) if spelling == "numbers as text" else value


def _list_respelled(value: Sequence[Any], spelling: str) -> Any:
    if spelling == "lists of one without their list" and len(value) == 1:
        return _respelled(value[0], spelling)
    return [_respelled(inner, spelling) for inner in value]


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


@contextlib.contextmanager
def takes_less_than(seconds: float) -> Iterator[None]:
    """Limit the time of the CPU, which other programs of the machine do not change."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds
