"""`list`: the stacks of the user and the examples, with the state that a backend has recorded."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from trainyard.cli import console, options
from trainyard.cli.panel import LOG_WIDTH, plain
from trainyard.components import clock
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.engine.engine_process import EngineFailedError, PulumiCommand
from trainyard.engine.environment import account_environment
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.session import project_of
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import StackFile, StackFileError, find_stack_file, names_in
from trainyard.stack_files.stack_outline import capacity_blocks_of, instance_types_of, nodes_of
from trainyard.stack_files.stacks_directory import stacks_directory
from trainyard.workspace.accounts import account_of, target_of
from trainyard.workspace.exported_state import StackState, listed_states, sandbox_states
from trainyard.workspace.project import sandbox_directory
from trainyard.workspace.target import Account, Target

_NOT_DEPLOYED, _UNKNOWN = StackState("not deployed"), StackState("unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedStack:
    """One stack."""

    stack: str
    file: str
    """Path of the stack file; empty if the backend has a stack without a file."""
    is_example: bool
    kind: str
    instance_types: tuple[str, ...]
    nodes: tuple[str, ...]
    state: str
    last_update: datetime | None
    block_ends_at: datetime | None
    """The earliest known end of its Capacity Blocks."""
    hours_left: float | None
    has_unread_block: bool
    """Whether the end of a Capacity Block is not known."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The stacks, and what is not known about them."""

    directory: Path
    stacks: tuple[ListedStack, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the content of `--json`; times are RFC 3339."""
        stacks = [dataclasses.asdict(each) for each in self.stacks]
        for each in stacks:
            for key in ("last_update", "block_ends_at"):
                each[key] = each[key] and each[key].isoformat()
        return {"directory": str(self.directory), "stacks": stacks, "notes": [*self.notes]}

    def show(self) -> None:
        """Print a table of the user's stacks, one of the examples, and the notes."""
        own = [each for each in self.stacks if not each.is_example]
        examples = [each for each in self.stacks if each.is_example]
        if own or self.directory != INSTALLATION.examples:
            _print(f"Stacks in {self.directory}", own)
        _print(f"Examples in {INSTALLATION.examples}", examples)
        for note in self.notes:
            console.note(f"note: {note}")


def list(  # noqa: A001 - the name of the command
    sandbox: options.Sandbox = False, as_json: options.AsJson = False
) -> None:
    """List the stacks of your stacks directory and the examples, and which are deployed."""
    found = listing(account_of(sandbox=sandbox))
    if as_json:
        console.answer_json(found.as_json())
        return
    found.show()


def listing(account: Account) -> Listing:
    """Return the stacks with their states in the sandbox, or in the user's backend.

    It asks the backend once and an account never; the sandbox's account answers at once.
    """
    directory = stacks_directory()
    states, notes = _sandbox_states() if account.is_sandbox else _backend_states(directory)
    known = states if states is not None else {}
    shipped = INSTALLATION.examples
    own = [] if directory == shipped else names_in(directory)
    examples = [name for name in names_in(shipped) if name not in own]
    lost = sorted(
        name
        for name, state in known.items()
        if name not in (*own, *examples) and state.state != "not deployed"
    )
    absent = _UNKNOWN if states is None else _NOT_DEPLOYED
    with _clock(account) as is_read:
        stacks = [
            _listed(name, known.get(name, absent), is_read=is_read, is_example=name in examples)
            for name in (*own, *examples)
        ]
    stacks += [_without_file(name, known[name]) for name in lost]
    if not account.is_sandbox and any(each.has_unread_block for each in stacks):
        note = (
            "the end of a Capacity Block is `not read` if the stack file has no `ends_at`; "
            "`./trainyard check STACK --live` reads it from the account"
        )
        notes = (*notes, note)
    return Listing(directory, tuple(stacks), notes)


def _sandbox_states() -> tuple[dict[str, StackState], tuple[str, ...]]:
    directory = sandbox_directory()
    if directory.read_status() is None:
        return {}, ("the sandbox is not running; start it: ./trainyard sandbox start",)
    return sandbox_states(project_of(directory)), ()


def _backend_states(directory: Path) -> tuple[dict[str, StackState] | None, tuple[str, ...]]:
    engine = ensure_pulumi(console.progress)
    environment = account_environment(os.environ, engine=engine.directory)
    # Without a login, Pulumi would ask.
    command = PulumiCommand(engine.executable, directory, environment)
    try:
        said = command.output(["stack", "ls", "--json", "--non-interactive"])
    except EngineFailedError as error:
        return None, (f"the states are unknown, because the backend cannot be read: {error}",)
    note = (
        "the list of the backend does not contain the results of updates; "
        "`./trainyard status STACK` shows whether the last one failed"
    )
    return listed_states(json.loads(said)), (note,)


@contextlib.contextmanager
def _clock(account: Account) -> Iterator[bool]:
    """Use the time and the account of a running sandbox; give whether there is one."""
    if not account.is_sandbox or sandbox_directory().read_status() is None:
        yield False
        return
    with account.access():
        yield True


def _listed(stack: str, state: StackState, *, is_read: bool, is_example: bool) -> ListedStack:
    try:
        found = find_stack_file(stack)
    except StackFileError as error:
        console.problem(str(error))
        found = None
    ends, is_unread = _block_ends(found, is_read=is_read) if found else (None, False)
    return ListedStack(
        stack=stack,
        file=str(found.path) if found else "",
        is_example=is_example,
        kind=found.architecture if found else "unreadable",
        instance_types=tuple(instance_types_of(found)) if found else (),
        nodes=tuple(nodes_of(found)) if found else (),
        state=state.state,
        last_update=state.last_update,
        block_ends_at=ends,
        hours_left=None if ends is None else round((ends - clock.now()) / timedelta(hours=1), 1),
        has_unread_block=is_unread,
    )


def _without_file(stack: str, state: StackState) -> ListedStack:
    return ListedStack(
        stack=stack,
        file="",
        is_example=False,
        kind="no stack file",
        instance_types=(),
        nodes=(),
        state=state.state,
        last_update=state.last_update,
        block_ends_at=None,
        hours_left=None,
        has_unread_block=False,
    )


def _block_ends(stack_file: StackFile, *, is_read: bool) -> tuple[datetime | None, bool]:
    """Return the earliest end of the stack's Capacity Blocks, and whether one is not known."""
    if is_read:
        from trainyard.stack_files.completion import completed, sandbox_completion

        stack_file = completed(stack_file, sandbox_completion(stack_file))
    target = target_of(stack_file, sandbox=is_read)
    blocks = capacity_blocks_of(stack_file).values()
    ends = [_end(block, target, is_read=is_read) for block in blocks]
    known = [end for end in ends if end is not None]
    return min(known, default=None), len(known) < len(ends)


def _end(block: Mapping[str, Any], target: Target, *, is_read: bool) -> datetime | None:
    written, identifier = block.get("ends_at"), block.get("reservation_id")
    if written:
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(str(written).replace(" +0000 UTC", "+00:00"))
    if not is_read or target.account.settings.problems or not isinstance(identifier, str):
        return None
    found = look_up_reservation(target.reader(), identifier)
    return found.ends_at if found else None


def _print(title: str, stacks: Sequence[ListedStack]) -> None:
    table = Table(title=plain(title), title_justify="left", title_style="bold")
    for heading in ("Stack", "Kind", "Nodes", "State", "Last update", "Capacity Block"):
        table.add_column(heading, overflow="fold")
    for each in stacks:
        updated = f"{each.last_update:%Y-%m-%d %H:%M} UTC" if each.last_update else ""
        cells = (each.stack, each.kind, "\n".join(each.nodes), each.state, updated, _block(each))
        table.add_row(*(plain(cell) for cell in cells))
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(table)


def _block(each: ListedStack) -> str:
    if each.hours_left is None:
        return "not read" if each.has_unread_block else ""
    return f"{each.hours_left:.1f} h left" if each.hours_left > 0 else "ended"
