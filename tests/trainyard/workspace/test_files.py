"""A file is the old one or the new one, even if writing it is interrupted."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.modules import PYTHONPATH
from trainyard.stack_files.files import first_written, write_whole

ROOT = Path(__file__).parents[3]
WRITER = """
import resource, sys
from pathlib import Path
from trainyard.stack_files.files import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    write_whole(Path(sys.argv[1]), "new" * 1000)
except OSError as error:
    print(error.errno, error.filename)
"""


def test_without_room_the_old_file_stays_and_the_error_names_it(tmp_path: Path) -> None:
    """A limit of the operating system on the size of files represents a full disk."""
    path = tmp_path / "Pulumi.yaml"
    path.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", WRITER, path],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{errno.EFBIG} {path}\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000


def test_a_directory_that_is_not_there_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "Pulumi.yaml"
    with pytest.raises(OSError, match=r"missing/Pulumi\.yaml") as raised:
        write_whole(path, "text")
    assert raised.value.errno == errno.ENOENT


def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    """`preview` reads the project while another command writes it."""
    path, texts = tmp_path / "Pulumi.yaml", ["a" * 100_000, "b" * 100_000]
    write_whole(path, texts[0])
    ended = threading.Event()

    def write() -> None:
        for turn in range(200):
            write_whole(path, texts[turn % 2])
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not ended.is_set():
        seen.add(path.read_text())
    writer.join()
    assert seen <= set(texts)


def test_a_file_is_on_the_disk_before_it_replaces_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power failure, a file whose content was not synchronized is empty."""
    path = tmp_path / "prod-a.purchase.json"
    path.write_text("old")
    synchronized: list[tuple[str, str]] = []

    def fsync(descriptor: int) -> None:
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
        content = target.read_text() if target.is_file() else ""
        synchronized.append((content, path.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(path, "new")
    assert synchronized == [("new", "old"), ("", "new")]


def test_the_mode_is_the_one_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "kubectl"
    path.write_text("old")
    write_whole(path, "#!/bin/sh\n", mode=0o700)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_of_several_that_make_a_secret_all_get_that_of_the_first(tmp_path: Path) -> None:
    """The first two stacks of a sandbox, started at the same time, share one passphrase."""
    path = tmp_path / "pulumi" / "passphrase"
    got: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: got.append(first_written(path, f"secret-{n}")))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(got) == {path.read_text()}
    assert len(got) == 8
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
