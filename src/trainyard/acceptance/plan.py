"""The steps of the acceptance of a stack, and about how long they take on AWS.

Every step is a command of this program, as a user would type it.

The times of creation and deletion are those of the latency model. The others are estimates, because
nothing has run on AWS yet: a node launches and joins in up to ten minutes, and an image of 10 GB is
pulled in five.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.acceptance.steps import DESTROY, NODE, Interruption, Step
from trainyard.acceptance.training import JOB, Training
from trainyard.sandboxes.client import Operation, latency_model

if TYPE_CHECKING:
    from trainyard.schedulers.scheduler import Scheduler

_NOTHING_CHANGED = r"Resources: 0 changed"
_NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
"""What takes longest in a network, and is there before the nodes of a cluster."""
_LUSTRE_DELETION_MINUTES = 10.0
"""The provider looks at the deletion of a file system for the first time after ten minutes.
https://github.com/hashicorp/terraform-provider-aws, `internal/service/fsx/lustre_file_system.go`
(`waitFileSystemDeleted`)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What the steps of a stack depend on.

    Attributes:
        stack: Its name.
        scheduler: Its scheduler; None for a network.
        file: Its stack file of the acceptance.
        changed: That file with a change.
        changes: Path of the key that differs.
        directory: Directory of the acceptance.
        test: Arguments of the command that tests the nodes; empty if it has none.
        training: What its nodes train; None if it has none.
        has_block: Whether its nodes launch in a Capacity Block.
        figure: Title of a figure of the nodes that CloudWatch must have; empty if nothing sends it,
            as in the sandbox.
        creates_lustre: Whether the stack makes a file system of FSx for Lustre itself.
    """

    stack: str
    scheduler: type[Scheduler[Any]] | None
    file: Path
    changed: Path
    changes: str
    directory: Path
    test: tuple[str, ...] = ()
    training: Training | None = None
    has_block: bool = False
    figure: str = ""
    creates_lustre: bool = False

    def command(self, name: str, *arguments: str, file: Path | None = None) -> tuple[str, ...]:
        """Return the arguments of a command for the stack."""
        return (name, self.stack, "--stack-file", str(file or self.file), *arguments)


def steps_of(accepted: Accepted) -> tuple[Step, ...]:
    """Return the steps of a stack, in order."""
    return (*_made(accepted), *_used(accepted), *_changed(accepted), *_deleted(accepted))


def _made(accepted: Accepted) -> Iterator[Step]:
    command = accepted.command
    yield Step(name="check", arguments=command("check", "--live"), proves="the account is ready")
    yield Step(
        name="up",
        arguments=command("up", "--yes"),
        proves="the stack comes up",
        minutes=_minutes(accepted, "create"),
    )
    yield Step(
        name="up again",
        arguments=command("up", "--yes"),
        proves="AWS returns what was requested: nothing changes",
        unchanged=True,
        says=_NOTHING_CHANGED,
        minutes=2,
    )
    yield Step(
        name="refresh",
        arguments=command("refresh", "--yes"),
        proves="the state is that of the account: nothing changes",
        unchanged=True,
        minutes=2,
    )


def _used(accepted: Accepted) -> Iterator[Step]:
    command, training = accepted.command, accepted.training
    repair_minutes = accepted.scheduler.repair_minutes if accepted.scheduler else None
    if accepted.test:
        test = command(accepted.test[0], *accepted.test[1:])
        yield Step(name="test", arguments=test, proves="all nodes work together", minutes=20)
    if accepted.test and repair_minutes is not None:
        yield Step(
            name="repair",
            arguments=command("repair", "--node", NODE, "--yes"),
            proves="a node is replaced",
            minutes=repair_minutes,
        )
    if accepted.has_block:
        yield Step(
            name="block",
            arguments=command("timeline"),
            proves="the Capacity Block of the nodes is active",
            says=r"\S+: Capacity Block \S+, active",
        )
    if training is None:
        return
    if training.install:
        yield Step(
            name="install",
            arguments=command("run", *training.install),
            proves="a job on one node writes to the file system",
            minutes=15,
        )
    ends = Interruption(after=training.began, arguments=command("cancel", JOB))
    yield Step(
        name="run",
        arguments=command("run", *training.run),
        proves="the training begins on all nodes, and ends when it is cancelled",
        interruption=ends,
        minutes=15,
    )
    yield Step(
        name="resume",
        arguments=command("run", *training.run),
        proves="it continues from the checkpoint that it wrote at its end, to the end"
        if training.continues
        else "it runs to its end",
        says=training.continues,
        minutes=10,
    )
    yield Step(
        name="status",
        arguments=command("status"),
        proves="metrics of the nodes are read back" if accepted.figure else "it can be read",
        says=rf".*\b{accepted.figure}\s+[\w ]+ \d" if accepted.figure else "",
    )


def _changed(accepted: Accepted) -> Iterator[Step]:
    yield Step(
        name="change",
        arguments=accepted.command("up", "--yes", file=accepted.changed),
        proves=f"{accepted.changes} changes in place; no node is launched",
        in_place=True,
        minutes=accepted.scheduler.change_minutes if accepted.scheduler else 2,
    )


def _deleted(accepted: Accepted) -> Iterator[Step]:
    bundle = ("--output", str(accepted.directory / "diagnosis"))
    yield Step(
        name="diagnose",
        arguments=accepted.command("diagnose", *bundle),
        proves="everything can be read",
        cleans=True,
    )
    minutes = _minutes(accepted, "delete")
    yield Step(
        name=DESTROY,
        arguments=accepted.command(DESTROY, "--yes"),
        proves="the stack can be deleted",
        cleans=True,
        minutes=minutes + (_LUSTRE_DELETION_MINUTES if accepted.creates_lustre else 0),
    )


def _minutes(accepted: Accepted, operation: Operation) -> float:
    """Return about how long AWS takes for the types that wait for each other."""
    types = latency_model().types
    own = accepted.scheduler.slow_types if accepted.scheduler else ()
    slowest = (_NAT_GATEWAY, *own)
    return sum(types[each][0].seconds.get(operation, 0.0) for each in slowest) / 60
