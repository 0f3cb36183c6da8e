"""The files of a repository are those that git tracks or would add."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.workspace.checkout import repository_files


def test_files_are_tracked_or_new_and_neither_ignored_nor_removed(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)

    git("init", "--quiet")
    texts = {".gitignore": "*.log\n", "b/kept.py": "", "removed.py": "", "ignored.log": ""}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git("add", ".")
    (tmp_path / "removed.py").unlink()
    (tmp_path / "a new \u00e4.py").write_text("", encoding="utf-8")
    assert repository_files(tmp_path) == [".gitignore", "a new \u00e4.py", "b/kept.py"]
