"""The Pulumi project directory of a sandbox: every file that the engine reads and writes.

Commands do not change tracked files: `stack init` writes an encryption salt into the stack file
next to `Pulumi.yaml`, and in a sandbox both files are in this directory.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.sandboxes.client import SandboxDirectory
from trainyard.stack_files.files import file_text, first_written, write_private
from trainyard.stack_files.installation import INSTALLATION, generated_project
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stacks_directory import PROGRAM_TEXT
from trainyard.stack_files.yaml_reader import read_yaml, yaml_text
from trainyard.workspace import backend

_STACK = "pulumi:pulumi:Stack"
"""Types that every stack has in its state before anything exists in AWS."""


@dataclass(frozen=True, slots=True)
class SandboxProject:
    """A generated Pulumi project with its own backend and home directory."""

    directory: Path
    plugins: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Plugin directories by provider; the engine chooses the plugins of other providers."""

    @property
    def home(self) -> Path:
        """`PULUMI_HOME`: credentials, plugins and selected stacks of this project."""
        return self.directory / "home"

    @property
    def backend(self) -> Path:
        """Directory of the `file://` backend."""
        return self.directory / "state"

    @property
    def command_locks(self) -> Path:
        """Directory of the files that `lock_file` returns."""
        return self.directory / "locks"

    def lock_file(self, stack: str) -> Path:
        """Return the file that a command locks while it changes a stack."""
        return self.command_locks / f"{stack}.lock"

    def state_file(self, stack: str) -> Path:
        """Return the state file of a stack in the backend."""
        return backend.state_file(self.backend, stack)

    def lock_directory(self, stack: str) -> Path:
        """Return the directory of the engine's locks for a stack."""
        return backend.lock_directory(self.backend, stack)

    def stacks(self) -> list[str]:
        """Return the names of the stacks with resources in the state, sorted."""
        return sorted(stack for stack in self.recorded_stacks() if self.holds(stack))

    def recorded_stacks(self) -> list[str]:
        """Return the names of the stacks with a state file, which may have no resources."""
        return sorted(path.stem for path in self.state_file("").parent.glob("*.json"))

    def holds(self, stack: str) -> bool:
        """Return whether the state has resources, or pending creates, of a stack.

        The backend keeps the state file of a destroyed stack and of a stack whose first `up` was
        refused.
        """
        return has_resources(self.latest_checkpoint(stack) or {})

    def outputs(self, stack: str) -> dict[str, Any] | None:
        """Return the outputs of a stack; None if the backend does not know the stack.

        Empty if the stack was never deployed or was destroyed. Secrets stay encrypted.
        """
        latest = self.latest_checkpoint(stack)
        if latest is None:
            return None
        resources = latest.get("resources") or []
        found = (r.get("outputs") for r in resources if r["type"] == _STACK)
        return next(found, None) or {}

    def latest_checkpoint(self, stack: str) -> dict[str, Any] | None:
        """Return the latest checkpoint of a stack; None if there is no state file."""
        try:
            record = json.loads(file_text(self.state_file(stack)))
        except FileNotFoundError:
            return None
        return record["checkpoint"].get("latest") or {}

    @property
    def passphrase(self) -> str:
        """The passphrase of the backend, created on first use and readable only by its owner."""
        path = self.directory / "passphrase"
        try:
            return file_text(path)
        except FileNotFoundError:
            return first_written(path, secrets.token_hex(16))

    def backend_environment(self) -> dict[str, str]:
        """Return the variables that point the engine at this project's backend."""
        return {
            "PULUMI_BACKEND_URL": self.backend.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
        }

    def write(self, stack_file: StackFile) -> Path:
        """Write `Pulumi.yaml` and the stack file; return the path of the stack file.

        An encryption salt that Pulumi wrote into the stack file is kept, because it belongs to the
        passphrase.
        """
        for directory in (self.directory, self.home, self.backend):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path, text in self._files(stack_file).items():
            # Engines of other stacks may be reading the project file.
            if not _holds(path, text):
                path.parent.mkdir(exist_ok=True, mode=0o700)
                write_private(path, text)
        return self._stack_path(stack_file)

    def is_written(self, stack_file: StackFile) -> bool:
        """Return whether the files already have the content that `write` would write."""
        return all(_holds(path, text) for path, text in self._files(stack_file).items())

    def _stack_path(self, stack_file: StackFile) -> Path:
        return self.directory / f"Pulumi.{stack_file.stack}.yaml"

    def _files(self, stack_file: StackFile) -> dict[Path, str]:
        path = self._stack_path(stack_file)
        content: dict[str, Any] = {"config": dict(stack_file.config)}
        if path.exists():
            salt = (read_yaml(path) or {}).get("encryptionsalt")
            content |= {"encryptionsalt": salt} if salt else {}
        clone = INSTALLATION.clone
        program = self.directory / "program"
        written = {} if clone else {program / "__main__.py": PROGRAM_TEXT}
        project = yaml_text(self._project(clone or program))
        return {**written, self.directory / "Pulumi.yaml": project, path: yaml_text(content)}

    def _project(self, program: Path) -> dict[str, Any]:
        project = generated_project(program)
        if self.plugins:
            plugins = [{"name": n, "path": str(path)} for n, path in sorted(self.plugins.items())]
            project["plugins"] = {"providers": plugins}
        return project


def _holds(path: Path, text: str) -> bool:
    try:
        return file_text(path) == text
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def sandbox_directory() -> SandboxDirectory:
    """Return the sandbox directory: `$TRAINYARD_SANDBOX`, or that of the installation."""
    configured = os.environ.get("TRAINYARD_SANDBOX")
    path = Path(configured).expanduser() if configured else INSTALLATION.own_files / "sandbox"
    return SandboxDirectory(path.resolve())


def has_resources(checkpoint: Mapping[str, Any]) -> bool:
    """Return whether a checkpoint has resources of a stack, or pending creates."""
    made = [each for each in checkpoint.get("resources") or [] if each["type"] != _STACK]
    return bool(made or checkpoint.get("pending_operations"))
