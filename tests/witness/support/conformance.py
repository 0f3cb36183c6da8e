"""Where answers differ from the facts that are known about the answers of AWS."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.acceptance.shapes import (
    Fact,
    Node,
    Table,
    leaves,
    nodes,
    pattern_of,
    shape_of,
    type_of,
)

FEW = 2
"""Objects that show which keys are always there."""
SOME = 5
"""Objects that show which keys are never there."""


def differences(table: Table, answers: Iterable[Any]) -> set[tuple[str, str, str, str]]:
    """Return operation, what differs, state and path.

    What differs is `missing` (AWS always answers the key), `never` (AWS does not answer it), `type`
    or `pattern`. An object in a state that nobody recorded is not compared.
    """
    return {
        (table.operation, what, node.state, path)
        for answer in answers
        for node in nodes(answer, shape_of(table.operation))
        for what, path in _of(node, _facts(table, node), weak=table.evidence == "examples")
    }


def _facts(table: Table, node: Node) -> Mapping[str, Fact]:
    """Return the facts about objects in the state of one; those of all states if it has none."""
    facts = table.states.get(node.state, {})
    if node.state or any(path.rpartition(".")[0] == node.path for path in facts):
        return facts
    return any_state(table)


def any_state(table: Table) -> Mapping[str, Fact]:
    """Return the facts about objects in any state."""
    parents: dict[str, int] = defaultdict(int)
    found: dict[str, Fact] = {}
    for facts in table.states.values():
        for parent, objects in _objects(facts).items():
            parents[parent] += objects
        for path, fact in facts.items():
            merged = found.setdefault(path, Fact())
            merged.have += fact.have
            merged.types |= fact.types
            merged.patterns |= fact.patterns
            merged.values |= fact.values
    for path, fact in found.items():
        fact.of = parents[path.rpartition(".")[0]]
    return found


def _objects(facts: Mapping[str, Fact]) -> Mapping[str, int]:
    """Return the number of objects at each path."""
    found: dict[str, int] = defaultdict(int)
    for path, fact in facts.items():
        parent = path.rpartition(".")[0]
        found[parent] = max(found[parent], fact.of)
    return found


def _of(node: Node, facts: Mapping[str, Fact], *, weak: bool) -> Iterator[tuple[str, str]]:
    start = f"{node.path}." if node.path else ""
    known = {
        path.rpartition(".")[2]: fact
        for path, fact in facts.items()
        if path.rpartition(".")[0] == node.path
    }
    objects = max((fact.of for fact in known.values()), default=0)
    for key, fact in known.items():
        if fact.always and fact.of >= FEW and key not in node.values:
            yield "missing", start + key
    for key, (value, shape) in node.values.items():
        fact = known.get(key)
        if weak:
            continue
        if fact is None or not fact.have:
            if fact is not None or objects >= SOME:  # a report says that it is not there
                yield "never", start + key
        elif fact.have >= FEW:
            yield from ((what, start + key) for what in _value(value, shape, fact))


def _value(value: Any, shape: Any, fact: Fact) -> Iterator[str]:
    if type_of(value, shape) not in fact.types:
        yield "type"
    for leaf, inner in leaves(value, shape):
        enumerated = getattr(inner, "enum", None)
        if enumerated and leaf not in enumerated and str(leaf) not in fact.values:
            yield "pattern"
        known = not fact.patterns or "text" in fact.patterns or not isinstance(leaf, str)
        if not known and pattern_of(leaf) not in fact.patterns:
            yield "pattern"
