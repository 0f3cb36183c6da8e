"""A new user who types the commands of a document into a shell, in a checkout of their own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.modules import PYTHONPATH
from tests.support.sandbox import TIMEOUT_SECONDS, Done
from tests.support.tracked import ROOT
from tests.support.warm_python import warm
from trainyard.sandbox.engine.cache import cache_directory
from trainyard.stack_files.stacks_directory import VARIABLE

WARM = f"{shlex.quote(sys.executable)} -P -m tests.support.without_preview"


def commands_in(text: str) -> list[str]:
    """Return the lines of the blocks that are to be run."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in re.sub(r"\\\n *", "", block).splitlines()]


def names(command: str) -> str:
    """Return a command without its comment and with single spaces."""
    return " ".join(command.partition(" #")[0].split())


@dataclass(slots=True)
class NewUser:
    """A user without settings of AWS, Pulumi and trainyard, except its cache.

    The commands of `as_typed` run like a user's the first time: `./trainyard` of the checkout, in
    plain processes, with a preview. The others have the same arguments and files, but are forks of
    a warm process that update without a preview.
    """

    home: Path
    as_typed: Sequence[str]
    """Beginnings of commands, without `./trainyard`."""
    results: dict[str, list[Done]] = field(default_factory=dict[str, list[Done]])
    """Results by command, without its comment."""

    def __post_init__(self) -> None:
        """Copy the checkout: it remembers the user's stacks directory."""
        unused = shutil.ignore_patterns(".*", "tests", "docs", "benchmarks")
        shutil.copytree(ROOT, self._checkout, ignore=unused, symlinks=True)
        (self._checkout / ".venv").symlink_to(ROOT / ".venv")

    def run(self, command: str) -> Done:
        """Run a line in a shell, and add its result."""
        plain = command.startswith(tuple(f"./trainyard {begin}" for begin in self.as_typed))
        line, environment = command, self._environment()
        if not plain or names(command) in self.results:
            line = command.replace("./trainyard", WARM)
            stacks = self.home / "trainyard-stacks"
            known = str(stacks if stacks.exists() else ROOT)
            environment = warm({**environment, VARIABLE: known, "PYTHONPATH": PYTHONPATH})
        run = subprocess.run(
            ["sh", "-c", line],
            cwd=self._checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        done = Done((command,), run.returncode, run.stdout, run.stderr)
        self.results.setdefault(names(command), []).append(done)
        return done

    @property
    def _checkout(self) -> Path:
        return self.home / "checkout"

    def _environment(self) -> dict[str, str]:
        others = ("AWS_", "PULUMI_", "TRAINYARD_", "PYTHON")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        sandbox = str(self.home / "sandbox")
        own = {"TRAINYARD_CACHE": str(cache_directory()), "TRAINYARD_SANDBOX": sandbox}
        return {**kept, **own, "HOME": str(self.home)}
