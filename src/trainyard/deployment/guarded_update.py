"""`up` and `preview` with a check of what the update would lose or find."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from trainyard.changes.kubernetes_creates import (
    KubernetesCreate,
    api_root,
    existing_cluster,
    kubernetes_creates,
)
from trainyard.changes.refusal import Background, UpdateVerdict, blocks_of, explanation, judge
from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.reader import AccountUnreachableError
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.components.catalog.capacity_blocks import terminated_before_end
from trainyard.components.eks.lookup import ClusterUnreadableError, get
from trainyard.deployment.policy_pack import policy_pack
from trainyard.progress.durations import duration
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace, begin_of, history

if TYPE_CHECKING:
    from trainyard.changes.steps import PlannedStep
    from trainyard.engine.engine_process import EngineResult
    from trainyard.engine.engine_run import EngineRun


Get = Callable[[str], Mapping[str, Any] | None]
"""Requests a path from the API server; None if it does not exist."""


class Reach(Protocol):
    """Gives access to the API server of a cluster by name; None if there is no such cluster."""

    def __call__(self, target: Target, cluster: str) -> AbstractContextManager[Get | None]:
        """Give it, in the account of the stack."""
        ...


@contextmanager
def reached_api_server(target: Target, cluster: str) -> Iterator[Get | None]:
    """Give access to the API server of a cluster in the account.

    Raises:
        WrongUseError: there are no credentials.
        AccountUnreachableError: the account cannot be queried.
    """
    with target.access():
        reader = target.reader()
        described = reader.ask("eks:DescribeCluster", reader.eks.describe_cluster, name=cluster)
        yield described and (lambda path: get(reader, described["cluster"], path))


class ExistingObjects:
    """The existing objects among an update's creates; each is looked up once."""

    def __init__(self, target: Target, *, reach: Reach = reached_api_server) -> None:
        self._target, self._reach = target, reach
        self._asked: set[KubernetesCreate] = set()
        self.found: list[KubernetesCreate] = []

    def look(self, steps: Sequence[PlannedStep]) -> bool:
        """Return whether any was found so far; a cluster that does not respond has none."""
        cluster = existing_cluster(steps)
        asked = [each for each in kubernetes_creates(steps) if each not in self._asked]
        if cluster and asked:
            self._asked.update(asked)
            self.found += self._existing(cluster, asked)
        return bool(self.found)

    def explanation(self) -> str:
        """Return a message: which objects exist, and the commands that resolve the conflict."""
        lines = [
            (
                "nothing was changed, because the cluster already has objects that this update "
                "would create and that are not in the state of the stack; it would fail with "
                '"already exists":'
            )
        ]
        for each in self.found:
            lines.append(f"  {each.kind} {each.identifier} ({each.logical_name})")
            lines += [f"    {line}" for line in self._commands(each)]
        again = self._target.command("up")
        return "\n".join([*lines, f"  then continue:  {again}"])

    def _commands(self, each: KubernetesCreate) -> list[str]:
        kubectl = self._target.account.kubectl_command(self._target.kubeconfig_path)
        found = [f"delete it:  {kubectl} {each.delete_command()}"]
        if each.parent and not self._target.is_sandbox:
            file = self._target.stack_file
            is_local = file.name == file.path.name
            extra = [] if is_local else ["--config-file", str(file.path)]
            adopt = each.import_command(stack=file.stack, extra=extra)
            found.append(f"or import it:  {adopt}")
        return found

    def _existing(
        self, cluster: str, creates: Iterable[KubernetesCreate]
    ) -> list[KubernetesCreate]:
        try:
            with self._reach(self._target, cluster) as get:
                return [] if get is None else existing(creates, get)
        except (AccountUnreachableError, ClusterUnreadableError, failures.CommandError) as error:
            why = str(error)
        except (LookupError, TypeError, AttributeError):
            why = "its response is invalid"
        console.progress(
            f"could not check whether cluster {cluster} has objects of the same names: {why}"
        )
        return []


def existing(creates: Iterable[KubernetesCreate], get: Get) -> list[KubernetesCreate]:
    """Return the objects that exist on an API server."""
    kinds: dict[str, Mapping[str, Any]] = {}
    found: list[KubernetesCreate] = []
    for each in creates:
        if each.api_version not in kinds:
            answer = get(api_root(each.api_version)) or {}
            # Skip subresources such as `daemonsets/status`, which have the same kind.
            resources = (r for r in answer.get("resources") or () if "/" not in r["name"])
            kinds[each.api_version] = {r["kind"]: r for r in resources}
        kind = kinds[each.api_version].get(each.kind)
        if kind is None:
            continue  # the update creates its definition
        path = each.api_path(plural=kind["name"], namespaced=kind["namespaced"])
        if get(path) is not None:
            found.append(each)
    return found


HISTORY_PAGE = 20
"""Number of updates to search for the last successful one."""


Saw: TypeAlias = "Callable[[Sequence[PlannedStep]], object]"


class Guard(NamedTuple):
    """What an update may lose."""

    allowed: Sequence[str]
    """Names of the objects that the user allows to lose."""
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
    allowed = frozenset(guard.allowed)
    verdicts: list[UpdateVerdict] = []
    unused: set[str] = set()
    existing = existing or ExistingObjects(workspace.target)

    def look(steps: Sequence[PlannedStep]) -> bool:
        guard.saw(steps)
        instances = _instances(workspace.stack_file)
        found = judge(steps, allowed=allowed, instances=instances)
        blocks = blocks_of(found, steps)
        if blocks:
            idle = _idle_blocks(blocks, workspace.target)
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
            text = explanation(found, _background(found, workspace))
            _refuse(text, warns=guard.warns)
    if existing.found:
        _refuse(existing.explanation(), warns=guard.warns)
    return result


def _refuse(text: str, *, warns: bool) -> None:
    if warns:
        console.progress(f"warning: `up` would be refused: {text}")
        return
    raise failures.WrongUseError(text)


def _background(found: UpdateVerdict, workspace: Workspace) -> Background:
    return Background(
        command=workspace.target.command("up"),
        destroy=workspace.target.command("destroy"),
        deployed=deployed_cluster(history(workspace, updates=HISTORY_PAGE)),
        wanted=workspace.stack_file.cluster,
        ends=_ends(found, workspace.target),
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


def _ends(found: UpdateVerdict, target: Target) -> dict[str, str]:
    """Return the end of each Capacity Block in a refusal as text, by id."""
    blocks = blocks_of(found, ())
    if not blocks:
        return {}
    facts, now = _read(blocks, target)
    return {
        block: time_left(each.ends_at, now)
        for block, each in facts.items()
        if each is not None and each.ends_at is not None
    }


def _idle_blocks(blocks: Collection[str], target: Target) -> frozenset[str]:
    facts, now = _read(blocks, target)
    return frozenset(
        block for block, each in facts.items() if each is not None and is_idle(each, now)
    )


def _read(
    blocks: Collection[str], target: Target
) -> tuple[dict[str, ReservationFacts | None], datetime]:
    with target.access():
        reader = target.reader()
        return {block: look_up_reservation(reader, block) for block in blocks}, clock.now()


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
