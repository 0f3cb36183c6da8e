"""The Pulumi project directory of a sandbox: everything the engine reads and writes there.

So no command touches a tracked file: `stack init` writes an encryption salt into the stack file
beside its `Pulumi.yaml`, and that file is one of this directory.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.workspace.stack_files import PROJECT, ROOT, StackFile, read_yaml

PROVIDERS = ("aws", "eks", "kubernetes")
"""Provider plugins that the sandbox stands in for."""


@dataclass(frozen=True, slots=True)
class SandboxProject:
    """A generated Pulumi project with a backend and a home of its own."""

    directory: Path
    providers: Path | None
    """Directory of the stand-in provider plugins; None leaves the choice to the engine."""

    @property
    def home(self) -> Path:
        """`PULUMI_HOME`: credentials, plugins and selected stacks of this project only."""
        return self.directory / "home"

    @property
    def backend(self) -> Path:
        """Directory of the `file://` backend."""
        return self.directory / "state"

    @property
    def locks(self) -> Path:
        """Where the backend keeps the locks of this project's stacks, one directory a stack."""
        return self.backend / ".pulumi" / "locks" / "organization" / PROJECT

    def state_file(self, stack: str) -> Path:
        """Return the file in which the backend keeps the state of a stack."""
        return self.backend / ".pulumi" / "stacks" / PROJECT / f"{stack}.json"

    def holds(self, stack: str) -> bool:
        """Return whether the state has anything of a stack that is, or was begun to be, in AWS.

        The backend keeps the record of a stack that was destroyed, or whose first `up` was refused.
        """
        try:
            record = json.loads(self.state_file(stack).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return False
        latest = record["checkpoint"].get("latest") or {}
        made = [r for r in latest.get("resources") or [] if r["type"] != "pulumi:pulumi:Stack"]
        return bool(made or latest.get("pending_operations"))

    def outputs(self, stack: str) -> dict[str, Any] | None:
        """Return the outputs of a stack; None where the backend has no record of it.

        Empty where it was never brought up, or was destroyed. Secrets stay as the engine keeps
        them.
        """
        try:
            record = json.loads(self.state_file(stack).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        resources = (record["checkpoint"].get("latest") or {}).get("resources") or []
        found = (r.get("outputs") for r in resources if r["type"] == "pulumi:pulumi:Stack")
        return next(found, None) or {}

    @property
    def passphrase(self) -> str:
        """The passphrase of the backend, made at first use and readable by its owner only."""
        path = self.directory / "passphrase"
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            value = secrets.token_hex(16)
            write_private(path, value)
            return value

    def backend_environment(self) -> dict[str, str]:
        """Return the variables that lead the engine to this project's state."""
        return {
            "PULUMI_BACKEND_URL": self.backend.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
        }

    def write(self, stack_file: StackFile) -> Path:
        """Write `Pulumi.yaml` and the stack's file; return the path of the latter.

        A file that Pulumi wrote a salt into keeps it: the salt belongs to the passphrase.
        """
        for directory in (self.directory, self.home, self.backend):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_yaml(self.directory / "Pulumi.yaml", self._project())
        path = self.directory / f"Pulumi.{stack_file.stack}.yaml"
        content: dict[str, Any] = {"config": dict(stack_file.config)}
        if path.exists():
            salt = (read_yaml(path) or {}).get("encryptionsalt")
            content |= {"encryptionsalt": salt} if salt else {}
        _write_yaml(path, content)
        return path

    def _project(self) -> dict[str, Any]:
        project: dict[str, Any] = {
            "name": PROJECT,
            "description": "Generated; the program is the checkout's.",
            "main": str(ROOT),
            "runtime": {
                "name": "python",
                "options": {"toolchain": "pip", "virtualenv": str(ROOT / ".venv")},
            },
        }
        if self.providers is not None:
            plugins = [{"name": n, "path": str(self.providers / n)} for n in PROVIDERS]
            project["plugins"] = {"providers": plugins}
        return project


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, also when it exists with other permissions."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
