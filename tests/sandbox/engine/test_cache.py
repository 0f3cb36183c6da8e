"""The cache contains only complete entries, even if the creation of one is interrupted."""

import multiprocessing
import os
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, until
from trainyard.sandbox.engine.cache import Entry, cache_directory, content_key, filling
from trainyard.sandbox.engine.errors import EngineError


def entry(directory: Path) -> Entry:
    return Entry(directory=directory / "kept" / "1.0", files=("program",))


def fill(directory: Path, name: str) -> None:
    """Fill the entry in another process: wait for permission, then use the given name."""

    def report(message: str) -> None:
        (directory / f"{name}-told").write_text(message)

    with filling(entry(directory), report) as target:
        if target is not None:
            (directory / f"{name}-fills").touch()
            until((directory / "permission").exists, "permission to go on")
            (target / "program").write_text(name)


def test_two_processes_that_need_the_same_entry_make_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    first = context.Process(target=fill, args=(tmp_path, "first"))
    first.start()
    until((tmp_path / "first-fills").exists, "the first process to begin")
    second = context.Process(target=fill, args=(tmp_path, "second"))
    second.start()
    until((tmp_path / "second-told").exists, "the second process to wait")
    (tmp_path / "permission").touch()
    first.join(PATIENCE)
    second.join(PATIENCE)

    assert (first.exitcode, second.exitcode) == (0, 0)
    assert "another trainyard is already getting 1.0" in (tmp_path / "second-told").read_text()
    assert (entry(tmp_path).directory / "program").read_text() == "first"
    assert not (tmp_path / "second-fills").exists()


def test_an_entry_whose_making_failed_is_not_there(tmp_path: Path) -> None:
    def interrupted() -> None:
        with filling(entry(tmp_path), print) as target:
            assert target is not None
            (target / "program").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert not entry(tmp_path).complete()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [".1.0.lock"]


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / "kept" / ".1.0.partial-abc"
    left.mkdir(parents=True)
    (left / "program").write_text("half")

    with filling(entry(tmp_path), print) as target:
        assert target is not None
        (target / "program").write_text("whole")

    assert not left.exists()
    assert entry(tmp_path).complete()


def test_an_entry_without_one_of_its_files_is_refused(tmp_path: Path) -> None:
    def fill_with_another_file() -> None:
        with filling(entry(tmp_path), print) as target:
            assert target is not None
            (target / "another").touch()

    with pytest.raises(EngineError, match=r"1\.0 came without program"):
        fill_with_another_file()


@pytest.mark.parametrize("damage", ["", "not executable"])
def test_a_damaged_entry_is_not_complete(tmp_path: Path, damage: str) -> None:
    with filling(entry(tmp_path), print) as target:
        assert target is not None
        (target / "program").write_text("whole")
    program = entry(tmp_path).directory / "program"
    program.write_text(damage)
    program.chmod(0o644)

    assert not entry(tmp_path).complete()


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        ({"TRAINYARD_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/trainyard"),
        ({"HOME": "/usr"}, "/usr/.cache/trainyard"),
    ],
    ids=["explicit", "xdg", "home"],
)
def test_the_cache_is_where_the_environment_says(
    environment: dict[str, str], directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", environment)

    assert cache_directory() == Path(directory)


def test_the_key_depends_on_every_content_and_not_on_the_place(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        for name in ("a", "b"):
            (tmp_path / folder / name).write_text(name)
    here, there = (
        [tmp_path / folder / name for name in ("a", "b")] for folder in ("here", "there")
    )

    assert content_key(here, "part") == content_key(there[::-1], "part")
    assert content_key(here, "part") != content_key(here, "other")
    (tmp_path / "there" / "b").write_text("changed")
    assert content_key(here, "part") != content_key(there, "part")
