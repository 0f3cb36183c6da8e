"""The state of a stack as the engine exports it, for any backend."""

from __future__ import annotations

import base64
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from trainyard.engine.engine_process import PulumiCommand
from trainyard.stack_files.files import file_text, write_whole
from trainyard.workspace.backend import history_directory
from trainyard.workspace.locks import StackLockedError, refuse_taken
from trainyard.workspace.project import SandboxProject, has_resources

# The state of a stack as the engine exports it, for any backend.
#
# Source: https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/core.go,
# `UntypedDeployment` and `DeploymentV3`


Deployment = dict[str, Any]
"""What `pulumi stack export` prints."""
STATE_NAMES = frozenset({"AWS_AUTH"})
"""What `trainyard_state` has: the names to which states refer."""
_STATE_NAME = re.compile(rb"trainyard_state:(\w+)")


def newer_state(stack: str, names: str) -> str:
    """Return what to do about a state that names what `trainyard_state` does not have."""
    return (
        f"a newer version of trainyard has written the state of {stack}: it names {names}, which "
        "this version does not have. Use that version or a later one"
    )


class NewerStateError(Exception):
    """A newer version of trainyard has written the state; the message says what to do."""


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
        write_whole(path, json.dumps(deployment))
        command.output(["stack", "import", "--stack", stack, "--file", str(path)])


def content_of(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Return resources, pending operations and manifest; empty if never deployed."""
    return deployment.get("deployment") or {}


def resources_of(deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the resources of an exported state, in the engine's order."""
    return content_of(deployment).get("resources") or []


def refuse_newer_state(deployment: Mapping[str, Any], stack: str) -> None:
    """Refuse a state that names what this version does not have, before anything is deleted.

    The engine would delete what comes before the first resource that it cannot load.

    Raises:
        NewerStateError: a newer version has written it.
    """
    outputs = (each.get("outputs") or {} for each in resources_of(deployment))
    providers = (each["__provider"] for each in outputs if isinstance(each.get("__provider"), str))
    named = {
        name.decode() for each in providers for name in _STATE_NAME.findall(base64.b64decode(each))
    }
    if unknown := sorted(named - STATE_NAMES):
        raise NewerStateError(f"{newer_state(stack, ', '.join(unknown))}. Nothing was deleted")


State = Literal[
    "not deployed", "deployed", "update running", "update interrupted", "update failed", "unknown"
]


@dataclass(frozen=True, slots=True)
class StackState:
    """What a backend has recorded of a stack."""

    state: State
    last_update: datetime | None = None


def sandbox_states(project: SandboxProject) -> dict[str, StackState]:
    """Return the states of the stacks of a sandbox, by stack, read from its files."""
    return {stack: _sandbox_state(project, stack) for stack in project.recorded_stacks()}


def _sandbox_state(project: SandboxProject, stack: str) -> StackState:
    latest = project.latest_checkpoint(stack) or {}
    written = (latest.get("manifest") or {}).get("time")
    moment = datetime.fromisoformat(written) if written else None
    return StackState(_state(project, stack, latest), moment)


def _state(project: SandboxProject, stack: str, latest: Mapping[str, Any]) -> State:
    try:
        refuse_taken(project.lock_file(stack), stack=stack)
    except StackLockedError:
        return "update running"
    if latest.get("pending_operations"):
        return "update interrupted"
    if not has_resources(latest):
        return "not deployed"
    return "update failed" if _last_result(project, stack) == "failed" else "deployed"


def _last_result(project: SandboxProject, stack: str) -> str:
    """Return the result of the last update that ended: `succeeded` or `failed`.

    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/updates.go, `UpdateResult`
    """
    ended = history_directory(project.backend, stack).glob("*.history.json")
    # The names end in the time, in nanoseconds.
    newest = max(ended, default=None)
    return json.loads(file_text(newest))["result"] if newest else ""


def listed_states(stacks: Iterable[Mapping[str, Any]]) -> dict[str, StackState]:
    """Return the states of the stacks that `pulumi stack ls --json` lists, by stack.

    The list has no results of updates, so a failed update is not distinguished.
    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/stack/stack_list.go
    """
    return {each["name"].rpartition("/")[2]: _listed_state(each) for each in stacks}


def _listed_state(listed: Mapping[str, Any]) -> StackState:
    written = listed.get("lastUpdate")
    moment = datetime.fromisoformat(written) if written else None
    if listed.get("updateInProgress"):
        return StackState("update running", moment)
    # The stack itself is a resource.
    made = (listed.get("resourceCount") or 0) > 1
    return StackState("deployed" if made else "not deployed", moment)
