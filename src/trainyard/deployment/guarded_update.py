"""`up` and `preview` with a check of what the update would lose."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from trainyard.changes.refusal import Background, Verdict, blocks_of, explanation, judge
from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.facts import ReservationFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.catalog.capacity_blocks import terminated_before_end
from trainyard.deployment.existing_objects import ExistingObjects
from trainyard.deployment.policy_pack import policy_pack
from trainyard.progress.durations import duration
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.workspace.session import account_access
from trainyard.workspace.workspace import Workspace, begin_of, history

if TYPE_CHECKING:
    from trainyard.changes.steps import Step
    from trainyard.engine.engine_process import EngineResult
    from trainyard.engine.engine_run import EngineRun

HISTORY_PAGE = 20
"""Number of updates to search for the last successful one."""


Saw: TypeAlias = "Callable[[Sequence[Step]], object]"


class Guard(NamedTuple):
    """What an update may lose, and where."""

    allowed: Sequence[str]
    """Names of the objects that the user allows to lose."""
    sandbox: bool
    warns: bool
    """Whether a refusal is only a warning, because the operation is a preview."""
    saw: Saw = tuple
    """Receives the planned steps; if they are judged twice, also the complete ones."""


def run_guarded(
    workspace: Workspace,
    operation: str,
    run: EngineRun,
    guard: Guard,
    existing: ExistingObjects | None = None,
) -> EngineResult:
    """Run the engine's `up` or `preview`, and start an update only if it loses nothing.

    Args:
        workspace: The workspace of the stack.
        operation: `up` or `preview`.
        run: Runs the engine.
        guard: What the update may lose.
        existing: Looks for objects that the cluster already has, by default in the account.

    Raises:
        WrongUseError: the update would lose an object that is not allowed; nothing was changed.
    """
    allowed, sandbox = frozenset(guard.allowed), guard.sandbox
    verdicts: list[Verdict] = []
    unused: set[str] = set()
    existing = existing or ExistingObjects(workspace.stack_file, sandbox=sandbox)

    def look(steps: Sequence[Step]) -> bool:
        guard.saw(steps)
        instances = _instances(workspace.stack_file)
        found = judge(steps, allowed=allowed, instances=instances)
        blocks = blocks_of(found, steps)
        if blocks:
            idle = _idle_blocks(blocks, workspace.stack_file, sandbox=sandbox)
            found = judge(steps, allowed=allowed, instances=instances, idle=idle)
        verdicts.append(found)
        everything = judge(steps, allowed=(), instances={}).losses
        # The judge may run twice; the later call has seen all steps.
        unused.clear()
        unused.update(allowed - {loss.name for loss in everything})
        return not found.refuses and not existing.look(steps)

    told = [*begin_of(workspace, operation), *policy_pack(workspace)]
    result = run.judged(workspace.command, told, look, fails_preview=operation != "preview")
    for name in sorted(unused):
        console.progress(f"--replace {name}: the update would delete no object of that name")
    for found in verdicts:
        if found.refuses:
            text = explanation(found, _background(found, workspace, sandbox=sandbox))
            _refuse(text, warns=guard.warns)
    if existing.found:
        _refuse(existing.explanation(), warns=guard.warns)
    return result


def _refuse(text: str, *, warns: bool) -> None:
    if warns:
        console.progress(f"warning: `up` would be refused: {text}")
        return
    raise failures.WrongUseError(text)


def _background(found: Verdict, workspace: Workspace, *, sandbox: bool) -> Background:
    file = workspace.stack_file
    return Background(
        command=file.command("up", sandbox=sandbox),
        destroy=file.command("destroy", sandbox=sandbox),
        deployed=deployed_cluster(history(workspace, updates=HISTORY_PAGE)),
        wanted=file.cluster,
        ends=_ends(found, file, sandbox=sandbox),
    )


def _instances(file: StackFile) -> dict[str, int]:
    """Return the instance count of each reservation, if the stack file has it."""
    return {
        reservation["reservation_id"]: reservation["instance_count"]
        for reservation in (file.cluster.get("reservations") or {}).values()
        if "reservation_id" in reservation and "instance_count" in reservation
    }


def deployed_cluster(updates: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return `trainyard:cluster` of the last successful update; None if there was none.

    `updates` is the output of `pulumi stack history --json`, newest first.
    """
    for update in updates:
        if update.get("kind") == "update" and update.get("result") == "succeeded":
            value = ((update.get("config") or {}).get(CLUSTER_KEY) or {}).get("value")
            return json.loads(value) if isinstance(value, str) else None
    return None


def _ends(found: Verdict, file: StackFile, *, sandbox: bool) -> dict[str, str]:
    """Return the end of each Capacity Block in a refusal as text, by id."""
    blocks = blocks_of(found, ())
    if not blocks:
        return {}
    facts, now = _read(blocks, file, sandbox=sandbox)
    return {
        block: time_left(each.ends_at, now)
        for block, each in facts.items()
        if each is not None and each.ends_at is not None
    }


def _idle_blocks(blocks: Collection[str], file: StackFile, *, sandbox: bool) -> frozenset[str]:
    facts, now = _read(blocks, file, sandbox=sandbox)
    return frozenset(
        block for block, each in facts.items() if each is not None and is_idle(each, now)
    )


def _read(
    blocks: Collection[str], file: StackFile, *, sandbox: bool
) -> tuple[dict[str, ReservationFacts | None], datetime]:
    with account_access(sandbox=sandbox, profile=file.profile):
        reader = AccountReader(region=file.region)
        return {block: reader.reservation(block) for block in blocks}, clock.now()


def is_idle(block: ReservationFacts, now: datetime) -> bool:
    """Return whether no node runs in a block: before its start, and when EC2 terminates them."""
    if block.starts_at is not None and now < block.starts_at:
        return True
    terminated = terminated_before_end(block.instance_type)
    return block.ends_at is not None and now >= block.ends_at - terminated


def time_left(end: datetime, now: datetime) -> str:
    """Return an end time and the time left as text."""
    left = duration(60 * ((end - now) // timedelta(minutes=1)))
    return f"{end.astimezone(UTC):%Y-%m-%d %H:%M} UTC, {left} from now"
