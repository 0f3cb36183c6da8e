"""A file is the old one or the new one, even if writing it is interrupted."""

from __future__ import annotations

import errno
import os
import resource
import select
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.modules import PYTHONPATH
from trainyard.stack_files.files import (
    FileRefusedError,
    first_written,
    given_bytes,
    refuse_unwritable,
    write_private,
    write_whole,
)

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


def test_a_file_keeps_its_permissions_and_a_private_one_gets_its_own(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text("old")
    path.chmod(0o640)
    write_whole(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    write_private(path, "secret")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("secret", 0o600)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_what_it_names_is_written(tmp_path: Path, *, exists: bool) -> None:
    target, link = tmp_path / "reports" / "new.svg", tmp_path / "latest.svg"
    target.parent.mkdir()
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    refuse_unwritable(link)
    write_whole(link, "new")
    assert link.readlink() == target
    assert target.read_text() == "new"
    assert [*target.parent.iterdir()] == [target]


def test_a_pipe_gets_the_text_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "x" * 300_000  # more than the kernel keeps of it
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = threading.Thread(target=write_whole, args=(pipe, text))
    writer.start()
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    waiting.poll()  # without a writer, reading would end at once
    os.set_blocking(reader, True)
    with os.fdopen(reader) as file:
        assert file.read() == text
    writer.join()
    assert pipe.is_fifo()


def test_a_pipe_that_nobody_reads_is_an_error_and_no_wait(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refuse_unwritable(pipe)
    with pytest.raises(OSError, match="no program reads the pipe"):
        write_whole(pipe, "text")


def test_a_device_stays_a_device() -> None:
    null = Path("/dev/null")
    before = null.stat()
    refuse_unwritable(null)
    write_whole(null, "text")
    after = null.stat()
    assert (after.st_ino, after.st_rdev, after.st_mode) == (
        before.st_ino,
        before.st_rdev,
        before.st_mode,
    )


INTO_STREAM = """
import sys
from pathlib import Path
from trainyard.stack_files.files import refuse_unwritable, write_whole
print("before")
refuse_unwritable(Path(sys.argv[1]))
write_whole(Path(sys.argv[1]), "text\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("redirected", [True, False])
def test_standard_output_gets_the_text_in_its_place(
    name: str, tmp_path: Path, *, redirected: bool
) -> None:
    """Into a file too: the shell has opened it, and a new file would get no further lines."""
    out = tmp_path / "out"
    with out.open("w") as file:
        done = subprocess.run(
            [sys.executable, "-c", INTO_STREAM, name],
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
            stdout=file if redirected else subprocess.PIPE,
            check=True,
        )
    said = out.read_bytes() if redirected else done.stdout
    assert said == b"before\ntext\nafter\n"


def test_a_directory_and_a_socket_are_not_written(tmp_path: Path) -> None:
    own = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(own))
    for path in (tmp_path, own):
        with pytest.raises(OSError, match=r"it is a (directory|socket); name a file"):
            write_whole(path, "text")
        with pytest.raises(FileRefusedError, match=r"it is a (directory|socket); name a file"):
            refuse_unwritable(path)
    assert [*tmp_path.iterdir()] == [own]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(11)
    assert given_bytes(path, most_bytes=11) == bytes(11)
    with pytest.raises(FileRefusedError, match="it has more than 10 bytes"):
        given_bytes(path, most_bytes=10)


def test_a_path_that_no_system_call_takes_is_refused() -> None:
    for path in (Path("a\0b"), Path("x" * 5000)):
        with pytest.raises(FileRefusedError, match="cannot be read"):
            given_bytes(path)
        with pytest.raises(FileRefusedError, match="cannot be written"):
            refuse_unwritable(path)
