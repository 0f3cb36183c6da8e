"""Whether stacks are deployed, from the state of a backend."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from trainyard.workspace.command_lock import refuse_taken
from trainyard.workspace.file_backend import history_directory
from trainyard.workspace.locks import StackLockedError
from trainyard.workspace.project import SandboxProject, has_resources

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
    return json.loads(newest.read_text(encoding="utf-8"))["result"] if newest else ""


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
