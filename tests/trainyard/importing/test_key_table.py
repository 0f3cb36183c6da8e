"""What the schema of a format does not have is named, with its line and the nearest key."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.importing.key_table import KeyTable, keys_in
from trainyard.importing.reading import node_of
from trainyard.importing.report import outcomes_in
from trainyard.importing.source import text_of


@pytest.fixture
def keys(tmp_path: Path) -> KeyTable:
    path = tmp_path / "keys.txt"
    rows = ("Pools sections", "Pools.Name text", "Pools.Count integer", "Pools.On boolean")
    path.write_text("\n".join(["# Keys.", *rows, "Tags map", "Zones list"]), encoding="utf-8")
    return KeyTable(lambda: keys_in(path))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Pools: [{Name: a, Count: 1, On: true}]\nTags: {any: {thing: 1}}\nZones: [a]\n", []),
        ("Pools: [{Count: '3', On: 'false'}]\n", []),
        ("Pools: [{Count: '${COUNT}'}]\nZones:\n", []),
        (
            "Pools: [{Counts: 1}]\n",
            [("Pools[0].Counts", "unknown-key", "rename it to `Count`, or remove it")],
        ),
        ("Pool: []\n", [("Pool", "unknown-key", "rename it to `Pools`, or remove it")]),
        ("Xyz: 1\n", [("Xyz", "unknown-key", "remove it; the keys here are: Pools, Tags, Zones")]),
        ("Pools: {}\n", [("Pools", "wrong-kind", "write a list")]),
        ("Pools: [a]\n", [("Pools[0]", "wrong-kind", "write a mapping of keys to values")]),
        ("Tags: 1\n", [("Tags", "wrong-kind", "write a mapping of keys to values")]),
        ("Pools: [{Count: few}]\n", [("Pools[0].Count", "wrong-value", "write a whole number")]),
        ("Pools: [{On: 1}]\n", [("Pools[0].On", "wrong-value", "write true or false")]),
        ("Pools: [{Name: [a]}]\n", [("Pools[0].Name", "wrong-kind", "write text")]),
    ],
)
def test_problems_of_keys_and_values(keys: KeyTable, text: str, found: list[tuple[str, str, str]]):
    problems = keys.problems(node_of(text))
    assert [(text_of(each.location), each.key, each.remedy) for each in problems] == found


def test_a_table_of_fates_has_a_reason_for_several_keys(tmp_path: Path):
    path = tmp_path / "outcomes.txt"
    path.write_text(
        "# Fates.\ndropped: it is old: see `a`\n  A A.B\n  C\ntaken over better: why not\n  D\n",
        encoding="utf-8",
    )
    old = ("dropped", "it is old: see `a`")
    assert outcomes_in(path) == {
        ("A",): old, ("A", "B"): old, ("C",): old, ("D",): ("taken over better", "why not"),
    }  # fmt: skip
