"""JSON is read as YAML is: the same values with the same lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from trainyard.importing.json_text import node_of_json
from trainyard.importing.reading import documents_in
from trainyard.stack_files.yaml_limits import DEEPEST, UnreadableYamlError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text("a{}[]:,\\\"' \u00e9", max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"{', max_size=4), inner),
    max_leaves=12,
)
FILE = Path("file.json")


@given(value=st.dictionaries(st.text("abc", min_size=1), VALUES), indent=st.sampled_from([None, 2]))
def test_a_text_has_the_values_and_lines_that_yaml_reads(value: dict[str, Any], indent: int | None):
    text = json.dumps(value, indent=indent)
    (document,) = documents_in(text, Path("file.yaml"))
    assert node_of_json(text, FILE) == document.root


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"a": 1,\n"b": {"c": 1,\n"c": 2}}',
            "line 3: is not valid YAML: the key 'c' is there twice",
        ),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"nested more than {DEEPEST} levels deep"),
        ("[" * 100_000 + "]" * 100_000, f"nested more than {DEEPEST} levels deep"),
    ],
)
def test_a_text_beyond_the_limits_is_refused(text: str, said: str):
    with pytest.raises(UnreadableYamlError) as raised:
        node_of_json(text, FILE)
    assert said in str(raised.value)
