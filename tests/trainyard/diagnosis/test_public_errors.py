"""Errors of public threads lead to their sections, and to no other."""

from __future__ import annotations

import re

from tests.trainyard.diagnosis.public_errors import public_errors

ERRORS = public_errors()
THREAD = re.compile(r"https://github\.com/[^/]+/[^/]+/(?:issues|pull)/\d+")


def test_there_are_enough_errors_and_each_names_its_thread_once() -> None:
    texts = [each.text for each in ERRORS]
    assert len(texts) == len(set(texts)) >= 120
    assert [each.source for each in ERRORS if not THREAD.fullmatch(each.source)] == []
    assert sum(each.is_held_back for each in ERRORS) >= len(ERRORS) // 4
