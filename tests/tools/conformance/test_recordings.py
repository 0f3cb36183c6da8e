"""Recordings as one base and the changes of its variants, and the command that creates them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tracked import ROOT
from tools.conformance import __main__ as command
from tools.conformance.recordings import compact, difference, expanded, merged, read, text_of

SCALARS = st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
RECORDINGS = st.dictionaries(st.sampled_from("abc"), VALUES)
CASES = [(), ("x",), ("y",), ("x", "y")]


@given(RECORDINGS, RECORDINGS)
def test_a_change_makes_one_recording_of_another(old: dict, new: dict) -> None:
    assert merged(old, difference(old, new)) == new


@given(st.lists(RECORDINGS, min_size=len(CASES), max_size=len(CASES)))
def test_every_case_comes_back_also_where_it_is_more_than_its_parts(recorded: list[dict]) -> None:
    by_case = dict(zip(CASES, recorded, strict=True))
    kept = compact(by_case)
    assert {case: expanded(kept, case) for case in CASES} == by_case


def test_a_combination_that_is_the_sum_of_its_parts_takes_no_lines() -> None:
    recorded = {(): {}, ("x",): {"x": 1}, ("y",): {"y": 1}, ("x", "y"): {"x": 1, "y": 1}}
    assert compact(recorded) == {"base": {}, "variants": {"x": {"x": 1}, "y": {"y": 1}}}


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The sandbox's stand-in."""
    made = tmp_path / "pulumi-resource-eks"
    stand_in = ROOT / "sandbox" / "providers" / "eks" / "pulumi-resource-eks"
    made.write_text(
        "#!/bin/sh\n"
        f"export AWS_ENDPOINT_URL=http://127.0.0.1:1 TRAINYARD_PYTHON='{sys.executable}'\n"
        f"exec '{stand_in}' \"$@\"\n"
    )
    made.chmod(0o755)
    return made


def test_a_plugin_is_recorded_and_another_run_finds_no_difference(
    plugin: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings = tmp_path / "recordings" / "eks.yaml"
    one_call: tuple[Any, ...] = recordings, [()]
    assert command.main([str(plugin), "--check"], *one_call) == 1
    assert not recordings.exists()
    assert command.main([str(plugin), "--source", "the sandbox"], *one_call) == 0
    assert "+    aws: 7.51.1" in capsys.readouterr().out
    kept = read(recordings)
    assert kept["recorded"]["component"] == "pulumi-eks 4.4.0"
    assert kept["recorded"]["source"] == "the sandbox"
    assert str(plugin.parent) not in text_of("", kept)
    assert command.main([str(plugin), "--check"], *one_call) == 0
    assert capsys.readouterr().out == ""


def test_what_is_no_plugin_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([str(tmp_path / "none"), "--check"]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'none'}: No such file or directory\n"
