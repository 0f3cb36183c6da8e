"""The launcher: its work before the command line of trainyard starts. No network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, until

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.txt", "requirements/dev.txt")

COMMAND_LINE = """
import json, os, sys
import tools, trainyard
places = [os.path.dirname(each.__file__) for each in (tools, trainyard)]
print(json.dumps([sys.argv[1:], os.getcwd(), places, sys.prefix]))
"""

# Executes the launcher's calls of uv, without packages. It records the calls, waits if a pipe
# called `hold` exists, and fails if a file called `fail` exists.
UV = """#!/bin/sh
here={here}
case "$1 $2" in
"--version "*) echo "uv 0.13.8 (test)" ;;
"venv "*) for directory; do :; done; {python} -m venv --without-pip "$directory" ;;
"pip sync")
    for lock; do :; done
    echo "$lock" >> "$here/syncs"
    if [ -p "$here/hold" ]; then read -r _ < "$here/hold"; fi
    if [ -e "$here/fail" ]; then echo "no such package" >&2; exit 2; fi ;;
esac
"""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A copy of the launcher with its own lock files and its own command line."""

    root: Path
    commands: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.commands}:/usr/bin:/bin", "HOME": str(self.commands)}

    @property
    def places(self) -> list[str]:
        """The directories of `tools` and `trainyard`."""
        return [str(self.root / "tools"), str(self.root / "src" / "trainyard")]

    def start(
        self,
        *arguments: str,
        launcher: Path | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [launcher or self.root / "trainyard", *arguments],
            cwd=cwd or self.root.parent,
            env=env or self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        *arguments: str,
        launcher: Path | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> tuple[int, str, str]:
        """Return the exit code, standard output and standard error of one start."""
        process = self.start(*arguments, launcher=launcher, cwd=cwd, env=env)
        output, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, output, errors

    def syncs(self) -> list[str]:
        """Return the lock files that were installed so far."""
        path = self.commands / "syncs"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, commands = tmp_path / "a check out", tmp_path / "commands"
    (root / "tools").mkdir(parents=True)
    (root / "src" / "trainyard").mkdir(parents=True)
    commands.mkdir()
    shutil.copy(ROOT / "trainyard", root)
    shutil.copy(ROOT / "tools" / "environment.py", root / "tools")
    (root / "tools" / "__init__.py").touch()
    (root / "tools" / "clone.py").write_text(COMMAND_LINE)
    (root / "src" / "trainyard" / "__init__.py").touch()
    (root / "requirements").mkdir()
    for lock in LOCKS:
        (root / lock).write_text(f"of {lock}\n")
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (commands / "python3").symlink_to(python)
    (commands / "uv").write_text(UV.format(here=commands, python=python))
    (commands / "uv").chmod(0o755)
    return Checkout(root=root, commands=commands)


def test_the_first_start_makes_the_environment_and_hands_over(checkout: Checkout) -> None:
    code, output, errors = checkout.run("up", "two words", "--yes")

    arguments, directory, places, prefix = json.loads(output)
    assert code == 0
    assert arguments == ["up", "two words", "--yes"]
    assert directory == str(checkout.root.parent)
    assert places == checkout.places
    assert prefix == str(checkout.root / ".venv")
    assert "setting up the Python environment in .venv (usually half a minute" in errors
    assert "the Python environment is ready" in errors


def test_a_later_start_changes_and_says_nothing(checkout: Checkout) -> None:
    checkout.run()
    (checkout.commands / "uv").unlink()
    (checkout.commands / "python3").unlink()

    code, _, errors = checkout.run()

    assert (code, errors, checkout.syncs()) == (0, "", ["requirements.txt"])


def test_a_changed_lock_is_installed(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / "requirements.txt").write_text("newer\n")
    checkout.run()
    checkout.run()

    assert checkout.syncs() == ["requirements.txt"] * 2


def test_tests_get_the_development_environment_which_serves_for_the_rest(
    checkout: Checkout,
) -> None:
    for command in ("up", "test", "up", "test"):
        checkout.run(command)

    assert checkout.syncs() == list(LOCKS)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_the_help_of_the_tests_needs_no_development_environment(
    checkout: Checkout, flag: str
) -> None:
    checkout.run("test", flag)

    assert checkout.syncs() == ["requirements.txt"]


def test_an_interrupted_installation_is_begun_again(checkout: Checkout) -> None:
    (checkout.commands / "fail").touch()
    code, output, errors = checkout.run()
    assert (code, output) == (1, "")
    assert "installing the locked packages failed:\nno such package" in errors
    assert "check that the package index can be reached" in errors

    (checkout.commands / "fail").unlink()

    assert checkout.run()[0] == 0


def test_a_failed_update_does_not_leave_the_old_environment_as_current(
    checkout: Checkout,
) -> None:
    checkout.run()
    old = (checkout.root / "requirements.txt").read_text()
    (checkout.root / "requirements.txt").write_text("newer\n")
    (checkout.commands / "fail").touch()
    checkout.run()
    (checkout.commands / "fail").unlink()
    (checkout.root / "requirements.txt").write_text(old)

    checkout.run()

    assert len(checkout.syncs()) == 3


def test_two_starts_at_once_install_once(checkout: Checkout) -> None:
    hold = checkout.commands / "hold"
    os.mkfifo(hold)
    first = checkout.start("first")
    until(checkout.syncs, "the first start to install")
    second = checkout.start("second")
    assert second.stderr is not None
    assert "another trainyard is setting up the environment" in second.stderr.readline()
    hold.write_text("go on\n")

    outputs = [process.communicate(timeout=PATIENCE)[0] for process in (first, second)]

    assert [json.loads(output)[0] for output in outputs] == [["first"], ["second"]]
    assert checkout.syncs() == ["requirements.txt"]


@pytest.mark.parametrize("absolute", [True, False], ids=["absolute-link", "relative-link"])
def test_it_works_through_a_link(checkout: Checkout, *, absolute: bool) -> None:
    link = checkout.commands / "linked"
    target = checkout.root / "trainyard"
    link.symlink_to(target if absolute else os.path.relpath(target, link.parent))

    code, output, _ = checkout.run("status", launcher=link)

    assert code == 0
    assert json.loads(output)[2] == checkout.places


def test_a_folder_of_the_same_name_in_the_working_directory_is_not_imported(
    checkout: Checkout, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for name in ("tools", "trainyard"):
        (other / name).mkdir(parents=True)
        (other / name / "__init__.py").write_text("raise SystemExit('the wrong one')")

    code, output, _ = checkout.run(cwd=other)

    assert code == 0
    assert json.loads(output)[1:3] == [str(other), checkout.places]


def test_it_works_without_a_home(checkout: Checkout) -> None:
    environment = {"PATH": checkout.environment["PATH"]}

    assert checkout.run(env=environment)[0] == 0


def test_settings_for_another_python_do_not_reach_ours(checkout: Checkout) -> None:
    confusing = {"PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere", "VIRTUAL_ENV": "/nowhere"}

    assert checkout.run(env=checkout.environment | confusing)[0] == 0


def test_an_environment_whose_python_was_removed_is_made_anew(checkout: Checkout) -> None:
    checkout.run()
    python = checkout.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")

    code, output, _ = checkout.run()

    assert code == 0
    assert json.loads(output)[3] == str(checkout.root / ".venv")


def test_refuses_to_replace_what_is_not_an_environment(checkout: Checkout) -> None:
    (checkout.root / ".venv").mkdir()
    (checkout.root / ".venv" / "notes.txt").write_text("mine")

    code, _, errors = checkout.run()

    assert code == 1
    assert "is in the way: it is not a Python environment; move it elsewhere" in errors
    assert (checkout.root / ".venv" / "notes.txt").read_text() == "mine"


def test_fails_where_the_checkout_cannot_be_written(checkout: Checkout) -> None:
    (checkout.root / ".trainyard").touch()  # blocks the directory for the lock

    code, _, errors = checkout.run()

    assert code == 1
    assert f"the environment goes into {checkout.root}, which cannot be written" in errors
    assert "Traceback" not in errors


def test_fails_without_a_python_that_is_new_enough(checkout: Checkout) -> None:
    (checkout.commands / "python3").unlink()
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14", "python"):
        (checkout.commands / name).write_text("#!/bin/sh\nexit 1\n")
        (checkout.commands / name).chmod(0o755)

    code, output, errors = checkout.run()

    assert (code, output) == (1, "")
    assert "needs Python 3.11 or newer, and there is none on the PATH; install it" in errors


def test_fails_in_a_path_that_python_cannot_search(checkout: Checkout, tmp_path: Path) -> None:
    odd = tmp_path / "a:b"
    checkout.root.rename(odd)

    code, _, errors = checkout.run(launcher=odd / "trainyard", cwd=tmp_path)

    assert code == 1
    assert "has a colon" in errors
