"""The state of a stack as the engine exports it, for any backend.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/core.go,
`UntypedDeployment` and `DeploymentV3`
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.engine.engine_process import PulumiCommand

Deployment = dict[str, Any]
"""What `pulumi stack export` prints."""


def exported_state(command: PulumiCommand, stack: str, *, show_secrets: bool = False) -> Deployment:
    """Return the state of a stack; secrets stay encrypted unless `show_secrets` is set.

    Raises:
        EngineFailedError: the stack does not exist, or its backend does not respond.
        StackLockedError: another command holds the lock of the stack.
    """
    flags = ["--show-secrets"] if show_secrets else []
    return json.loads(command.output(["stack", "export", *flags, "--stack", stack]))


def import_state(command: PulumiCommand, deployment: Deployment, stack: str) -> None:
    """Replace the state of a stack.

    Raises:
        EngineFailedError: the engine rejects the state, or its backend does not respond.
        StackLockedError: another command holds the lock of the stack.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "stack.json"
        path.write_text(json.dumps(deployment), encoding="utf-8")
        command.output(["stack", "import", "--stack", stack, "--file", str(path)])


def content_of(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Return resources, pending operations and manifest; empty if never deployed."""
    return deployment.get("deployment") or {}


def resources_of(deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the resources of an exported state, in the engine's order."""
    return content_of(deployment).get("resources") or []
