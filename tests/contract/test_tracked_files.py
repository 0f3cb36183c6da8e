"""Forbidden content of the repository: paths of a machine, package indexes, unfinished work."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.support.tracked import ROOT, tracked_files

TEXT = [path for path in tracked_files() if path.suffix not in {".png", ".ico", ".gz"}]

# Written in pieces, so that this file does not contain them itself.
MACHINE_PATHS = [re.compile(rf"(?<![\w.-])/{name}/\w") for name in ("work", "root", "Users")]
INDEX_HOSTS = [
    re.compile(rf"\b{host}\b")
    for host in (
        r"pypi\." + "org",
        r"files\.python" + r"hosted\.org",
        r"proxy\.golang" + r"\.org",
        r"sum\.golang" + r"\.org",
        r"registry\.npmjs" + r"\.org",
        r"index\.crates" + r"\.io",
    )
]
UNFINISHED = [re.compile(rf"\b{word}\b") for word in ("TO" + "DO", "FIX" + "ME", "X" + "XX")]


def lines_with(patterns: list[re.Pattern[str]]) -> list[str]:
    """Return `path:number: line` for every line that matches one of the patterns."""
    return [
        f"{path}:{number}: {line.strip()[:120]}"
        for path in TEXT
        if any(pattern.search(text_of(path)) for pattern in patterns)
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if any(pattern.search(line) for pattern in patterns)
    ]


@cache
def text_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not lines_with(MACHINE_PATHS)


def test_no_file_names_the_host_of_a_package_index() -> None:
    """Each machine uses its own index; a lock file that names one fails elsewhere."""
    assert not lines_with(INDEX_HOSTS)


def test_no_file_carries_a_mark_of_unfinished_work() -> None:
    assert not lines_with(UNFINISHED)
