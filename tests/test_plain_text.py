"""Text for terminals breaks at words, and commands stay in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.plain_text import fill, folded


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a short line", "a short line", id="short"),
        pytest.param(
            "  problem: forces a placement group",
            "  problem: forces a\n           placement\n           group",
            id="label",
        ),
        pytest.param(
            "  warning: the quota is not known",
            "  warning: the quota\n           is not\n           known",
            id="warning",
        ),
        pytest.param(
            "• checking the file of p5-cb", "• checking the file\n  of p5-cb", id="progress"
        ),
        pytest.param(
            "    one two three four five", "    one two three\n    four five", id="indented"
        ),
        pytest.param(
            "  fix:   ./trainyard up p5-cb --sandbox --yes",
            "  fix:   ./trainyard up p5-cb --sandbox --yes",
            id="command",
        ),
        pytest.param(
            "vpc-0123456789abcdef0-longer", "vpc-0123456789abcdef0-longer", id="long word"
        ),
    ],
)
def test_lines_break_at_words_below_their_label(text: str, shown: str) -> None:
    assert folded(text, 20) == shown


@given(st.lists(st.text("abc-/", min_size=1, max_size=9), min_size=1), st.integers(12, 60))
def test_no_word_is_lost_or_broken(words: list[str], columns: int) -> None:
    made = fill(" ".join(words), columns, "  ")
    assert made.split() == words
    assert all(len(line) <= columns for line in made.splitlines())
