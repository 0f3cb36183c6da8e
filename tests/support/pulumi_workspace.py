"""A Pulumi project of a test, run by the real engine."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.engine.pulumi_engine import PulumiEngine


@dataclass(kw_only=True)
class Workspace:
    """A Pulumi project with its own home, backend and passphrase."""

    directory: Path
    engine: PulumiEngine
    variables: dict[str, str] = field(default_factory=dict)
    """Additional environment variables of its commands."""

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PULUMI_"))}
        return kept | {
            "PATH": f"{self.engine.directory}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_HOME": str(self.directory / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.directory / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "of a test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            **self.variables,
        }

    def write(self, path: str, text: str) -> None:
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def command(self, *arguments: str) -> list[str]:
        return [str(self.engine.executable), "--non-interactive", "--logtostderr", *arguments]

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a Pulumi command in the project and return all that it printed."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def processes(self) -> list[int]:
        """Return every process that was started for this workspace and still runs."""
        mark = f"PULUMI_HOME={self.directory / 'home'}\0".encode()
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environment.read_bytes() + b"\0":
                    found.append(int(environment.parent.name))
            except OSError:
                continue  # it ended meanwhile, or is another user's
        return found


def empty_project(directory: Path, engine: PulumiEngine, settings: str = "") -> Workspace:
    """Make a project with the stack `test`, which runs in this Python environment.

    `settings` are further lines of its `Pulumi.yaml`.
    """
    made = Workspace(directory=directory, engine=engine)
    for folder in ("home", "state"):
        (directory / folder).mkdir()
    made.write(
        "Pulumi.yaml",
        "name: example\n"
        f"runtime: {{name: python, options: {{toolchain: pip, virtualenv: {sys.prefix!r}}}}}\n"
        f"{settings}",
    )
    made.write("__main__.py", "")
    made.run("stack", "init", "test")
    return made
