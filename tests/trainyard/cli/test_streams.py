"""Streams that are closed, that nobody reads, or that lack characters: no traceback, no hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.modules import PYTHONPATH
from tests.support.tracked import ROOT

COMMANDS = {"check": ("check", "dev"), "cost": ("cost", "dev"), "help": ("--help",)}
"""Commands that write lines, a table and the help, each in its way."""
ASCII = {
    "LC_ALL": "C",
    "PYTHONIOENCODING": "ascii",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


def environment(**variables: str) -> dict[str, str]:
    own = {
        "PYTHONPATH": PYTHONPATH,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }
    return {**os.environ, **own, **variables}


def shell(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script of bash, in which `"$@"` is the command."""
    command = [sys.executable, "-P", "-m", "trainyard", *arguments]
    return subprocess.run(
        ["bash", "-c", script, "bash", *command],
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_nothing(closed: str) -> None:
    done = shell(f'"$@" {closed}', *COMMANDS["check"])
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    if closed == "2>&-":
        assert done.stdout


def test_an_error_without_a_stream_has_its_exit_code() -> None:
    assert shell('"$@" 2>&-', "check", "no-such-stack").returncode == 2


def test_no_file_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """Otherwise a child, or a message, writes into the file that was opened next."""
    picture = tmp_path / "dev.svg"
    done = shell('"$@" >&- 2>&-', "picture", "dev", "-o", str(picture))
    assert done.returncode == 0
    text = picture.read_text()
    assert text.startswith("<svg")
    assert "the picture is in" not in text


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_has_ended_ends_the_command_without_a_message(
    arguments: tuple[str, ...],
) -> None:
    """141, as a program that dies of SIGPIPE: https://man7.org/linux/man-pages/man7/signal.7.html."""
    # `sleep` would be a guess: the reader is gone before the command begins.
    script = 'exec 3> >(exec true); wait $!; "$@" >&3; echo "code $?"'
    done = shell(script, *arguments)
    assert done.stdout == b"code 141\n"
    assert b"Traceback" not in done.stderr
    assert b"Broken pipe" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_a_message_that_nobody_reads_ends_the_command_too() -> None:
    script = 'exec 3> >(exec true); wait $!; "$@" 2>&3; echo "code $?"'
    assert shell(script, "check", "no-such-stack").stdout == b"code 141\n"


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_an_output_without_room_is_an_error(arguments: tuple[str, ...]) -> None:
    done = shell('"$@" >/dev/full', *arguments)
    assert done.returncode == 1
    *_, line = done.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert "No space left on device" in line


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_a_terminal_of_ascii_gets_every_message(arguments: tuple[str, ...]) -> None:
    done = shell('"$@"', *arguments, **ASCII)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_a_document_is_the_same_whatever_the_encoding_of_the_terminal(tmp_path: Path) -> None:
    """A name that ASCII lacks is in the picture."""
    plain = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    own = tmp_path / "Pulumi.dev.yaml"
    own.write_text(plain.replace("config:", "# Größe\nconfig:", 1), encoding="utf-8")
    arguments = ("picture", "dev", "--stack-file", str(own))
    assert shell('"$@"', *arguments, **ASCII).stdout == shell('"$@"', *arguments).stdout


def test_a_name_of_a_file_that_is_no_text_is_shown(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml")
    done = shell('"$@"', "lint", path)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"does not exist" in done.stdout
