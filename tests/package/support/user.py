"""A user of the installed package."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True, slots=True)
class User:
    """A user of the installed package, with an empty home and an empty directory."""

    python: Path
    home: Path
    directory: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = ("TRAINYARD_CACHE", "XDG_CACHE_HOME")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trainyard"
        return {
            "HOME": str(self.home),
            "PATH": f"{self.python.parent}:/usr/bin:/bin",
            # Tests may not write elsewhere.
            "TMPDIR": str(self.home),
            "TRAINYARD_CACHE": str(cache),
            **{name: os.environ[name] for name in kept if name in os.environ},
        }

    def run(self, *arguments: str) -> Done:
        """Run `trainyard` with arguments in the directory."""
        return subprocess.run(
            [self.python.with_name("trainyard"), *arguments],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def must(self, *arguments: str) -> str:
        """Run a command that has to succeed; return what it says."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr
