"""Durations as people say them."""

from __future__ import annotations

import pytest

from trainyard.progress.durations import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (8.4, "8 s"),
        (59, "59 s"),
        (59.7, "1 min"),
        (120, "2 min"),
        (125, "2 min 5 s"),
        (552, "9 min 12 s"),
        (3840, "1 h 4 min"),
        (86399, "23 h 59 min"),
        (6 * 86400 + 20 * 3600 + 59 * 60, "6 d 20 h"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words
