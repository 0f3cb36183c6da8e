"""Rules and programs of the corpus name properties that pulumi-aws has.

A rule that reads a property by a wrong name never finds it, and never reports anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support import aws_sdk
from tests.support.aws_sdk import Declared
from tests.support.corpus.case import broken, good
from tests.support.policy import Declared as Resource
from tests.support.policy import check
from trainyard.policies.pack.discovery import POLICIES
from trainyard.policies.resources import props
from trainyard.policies.resources import types as resource_types

TYPES = sorted(t for t in vars(resource_types).values() if str(t).startswith("aws:"))
PROGRAMS = [case for case in (*broken(), *good()) if case.program]
ANY_NAME = {"id", "name", "arn"}
"""Names by which a resource of any type is found."""


def properties(token: str) -> Mapping[str, Declared]:
    """Return the properties of a type, by wire name; rules see inputs or outputs."""
    return {**aws_sdk.outputs(token), **aws_sdk.inputs(token)}


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_a_program_of_the_corpus_gives_what_pulumi_aws_takes(case: Any) -> None:
    unknown = {
        path
        for made in case.program
        if made.type.startswith("aws:")
        for path in unnamed(made.type, made.props, properties(made.type))
    }
    assert unknown == set()


def unnamed(where: str, given: Any, declared: Mapping[str, Declared]) -> Iterator[str]:
    """Yield every name that is not declared."""
    for name, value in given.items():
        if name not in declared:
            if name != "id":
                yield f"{where}.{name}"
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and declared[name].type is not None:
                yield from unnamed(f"{where}.{name}", item, declared[name].fields)


def test_rules_read_what_pulumi_aws_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every rule on a resource of every type that has all properties."""
    read: set[tuple[str, tuple[str, ...]]] = set()
    look = props.Facts._look

    def recorded(self: props.Facts, path: tuple[str | int, ...]) -> Any:
        if self.name in TYPES:
            read.add((self.name, tuple(step for step in path if isinstance(step, str))))
        return look(self, path)

    monkeypatch.setattr(props.Facts, "_look", recorded)
    whole = [Resource(token, token, filled(properties(token))) for token in TYPES]
    programs = [
        [Resource(m.type, m.type, m.props, protect=m.protect) for m in case.program]
        for case in PROGRAMS
    ]
    for policy in POLICIES:
        for program in (whole, *([each] for each in whole), *programs):
            check(policy, *program)
    assert {token for token, _ in read} > {resource_types.LAUNCH_TEMPLATE, resource_types.SUBNET}
    assert len(read) > 100
    # A reader for several types also reads properties that only some of them have.
    has = {path for token, path in read if is_declared(token, path)}
    assert {".".join(path) for _, path in read if path not in has} == set()


def is_declared(token: str, path: tuple[str, ...]) -> bool:
    declared = properties(token)
    if path[0] in ANY_NAME:
        return True
    for position, step in enumerate(path):
        if step not in declared:
            return False
        if declared[step].type is None:
            # A map has custom keys, and the content of a text is no property.
            return declared[step].kind == "map" or position == len(path) - 1
        declared = declared[step].fields
    return True


def filled(declared: Mapping[str, Declared], depth: int = 0) -> dict[str, Any]:
    """Return a value for every property."""
    return {name: value_of(each, depth) for name, each in declared.items()}


def value_of(declared: Declared, depth: int) -> Any:
    if declared.type is not None:
        inner = filled(declared.fields, depth + 1) if depth < 4 else {}
        return [inner] if declared.kind == "list" else inner
    samples = {"list": ["a"], "map": {"a": "b"}, "bool": True, "int": 1, "float": 1.0}
    return samples.get(declared.kind, "efa")
