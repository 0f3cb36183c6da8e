"""The files of a repository are those that git tracks or would add."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.repository import copy_repository, repository_files


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


def test_a_copy_keeps_links_and_leaves_folders_out(tmp_path: Path) -> None:
    root, copy = tmp_path / "root", tmp_path / "copy"
    for folder in ("a", "b", ".venv"):
        (root / folder).mkdir(parents=True)
    (root / "a" / "kept.py").write_text("", encoding="utf-8")
    (root / "b" / "not.py").write_text("", encoding="utf-8")
    (root / "to-a").symlink_to("a")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    copy_repository(root, copy, without={"b"})
    assert sorted(path.name for path in copy.iterdir()) == [".venv", "a", "to-a"]
    assert (copy / "to-a").readlink() == Path("a")
    assert (copy / "a" / "kept.py").is_file()
