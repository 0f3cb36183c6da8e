"""Explain why an update is refused, and how to proceed."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.changes.losses import (
    SLURM_CLUSTER,
    Collision,
    Loss,
    collisions,
    losses,
    moved_networks,
    running_blocks,
    what_stays,
)
from trainyard.changes.reserved_capacity import COMPUTE_ENVIRONMENT, Reserved, ReservedGroups
from trainyard.changes.steps import PlannedStep
from trainyard.components.config.problems import printable, show
from trainyard.stack_files.stack_entries import entries, entries_of


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """A stack file key whose value differs from the deployed value."""

    path: tuple[str, ...]
    """Path below `trainyard:cluster`."""
    before: Any
    """None if the key is new."""
    after: Any
    """None if the key was removed."""

    @property
    def line(self) -> str:
        """The change as text."""
        key = ".".join(self.path)
        if self.after is None:
            return f"{key}: removed"
        if self.before is None:
            return f"{key}: {show(self.after)} (new)"
        return f"{key}: {show(self.before)} -> {show(self.after)}"


def changed_keys(deployed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[ChangedKey]:
    """Return the keys whose values differ, as deep as both files have them, by path."""
    return sorted(_changes(deployed, wanted, ()), key=lambda change: change.path)


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[ChangedKey]:
    for key in {*before, *after}:
        one, other = before.get(key), after.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _changes(one, other, (*path, str(key)))
        elif one != other:
            yield ChangedKey((*path, str(key)), one, other)


def causes_of(
    name: str, changes: list[ChangedKey], deployed: Mapping[str, Any]
) -> list[ChangedKey]:
    """Return the changed keys that may cause a change of a resource with this name.

    These are the keys below the resource's entry or, if there are none, those outside all entries.
    """
    places, everything = entries_of(name, deployed), list(entries(deployed))
    near = [each for each in changes if any(_is_below(each.path, path) for path in places)]
    far = [each for each in changes if not any(_is_below(each.path, path) for path in everything)]
    return near or far or changes


def _is_below(path: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return path[: len(place)] == place


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateVerdict:
    """The reasons to refuse an update; empty if it may start."""

    losses: tuple[Loss, ...] = ()
    """Losses that the user has not allowed by name."""
    collisions: tuple[Collision, ...] = ()
    running_blocks: tuple[PlannedStep, ...] = ()
    """Capacity Block groups that EKS would not update while they have nodes."""
    moved_networks: tuple[PlannedStep, ...] = ()
    """VPCs that would be replaced although resources in them cannot move."""
    staying: tuple[str, ...] = ()
    """Those resources, as text."""

    @property
    def is_impossible(self) -> bool:
        """Whether the update would fail even if all losses are allowed."""
        return bool(self.collisions or self.running_blocks or self.moved_networks)

    @property
    def refuses(self) -> bool:
        """Whether the update must not start."""
        return bool(self.losses) or self.is_impossible


def judge(
    steps: Sequence[PlannedStep],
    *,
    allowed: Collection[str],
    instances: Mapping[str, int],
    idle: Collection[str] = (),
) -> UpdateVerdict:
    """Return the reasons to refuse an update.

    Args:
        steps: The steps of the engine's preview.
        allowed: Full names of the objects that the user allows to lose.
        instances: Instance count of each reservation by id, if known.
        idle: Ids of the Capacity Blocks in which no node runs: they have not started, or EC2 has
            begun to terminate their instances. Groups in them have nothing to lose.
    """
    groups = ReservedGroups(steps)
    return UpdateVerdict(
        losses=tuple(
            loss
            for loss in losses(steps)
            if loss.name not in allowed and not _is_idle(loss.capacity, idle)
        ),
        collisions=collisions(steps, instances),
        running_blocks=tuple(
            step
            for step in running_blocks(steps)
            if not _is_idle(groups.capacity_of(step, "old"), idle)
        ),
        moved_networks=moved_networks(steps),
        staying=what_stays(steps),
    )


def _is_idle(capacity: Reserved | None, idle: Collection[str]) -> bool:
    return capacity is not None and capacity.is_block and capacity.target in idle


def blocks_of(verdict: UpdateVerdict, steps: Sequence[PlannedStep]) -> frozenset[str]:
    """Return the ids of the Capacity Blocks whose nodes are a reason of a verdict."""
    groups = ReservedGroups(steps)
    capacities = [
        *(loss.capacity for loss in verdict.losses),
        *(groups.capacity_of(step, "old") for step in verdict.running_blocks),
    ]
    return frozenset(each.target for each in capacities if each and each.is_block) - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Additional information for a refusal."""

    command: str
    """The refused command, without the names that would allow the losses."""
    destroy: str
    """The command that destroys the stack."""
    deployed: Mapping[str, Any] | None
    """`trainyard:cluster` of the last update; None if unknown."""
    wanted: Mapping[str, Any]
    """`trainyard:cluster` in the current stack file."""
    ends: Mapping[str, str] = field(default_factory=dict[str, str])
    """End and remaining time of each Capacity Block, by id."""


def explanation(verdict: UpdateVerdict, background: Background) -> str:
    """Return a message: what would be lost, why, and the command that allows it."""
    deployed = background.deployed
    changes = [] if deployed is None else changed_keys(deployed, background.wanted)
    lines = [
        "nothing was changed, because this update would delete what you have not allowed it to:"
    ]
    if not verdict.losses:
        lines = ["nothing was changed, because this update cannot succeed:"]
    for loss in verdict.losses:
        lines += _loss(loss, causes_of(loss.step.name, changes, deployed or {}), background)
    for collision in verdict.collisions:
        lines += _collision(collision, background)
    for step in verdict.running_blocks:
        lines += _running_block(step)
    for step in verdict.moved_networks:
        lines += _moved_network(step, verdict.staying, background)
    lines += _ways_out(verdict, background.command)
    return "\n".join(lines)


def _loss(loss: Loss, causes: Sequence[ChangedKey], background: Background) -> Iterator[str]:
    step = loss.step
    known = f"{step.type} {step.identifier}".strip()
    yield f"\n  {printable(loss.name)}  ({printable(known)})"
    yield f"    what happens: {_happens(loss)}"
    yield f"    what is lost: {loss.lost}"
    if loss.capacity is not None and loss.capacity.is_block:
        ends = background.ends.get(loss.capacity.target)
        yield (
            "    the block:    "
            + (f"runs until {ends}; " if ends else "")
            + "AWS gives no refund for the time without nodes"
        )
    for cause in causes:
        yield f"    caused by:    {cause.line}"
    if loss.moves_to is not None:
        yield (
            "    instead:      wait until the block ends; or leave this pool as it is, and add one "
            "for the next block"
        )


def _happens(loss: Loss) -> str:
    if loss.kind == "storage of the cluster":
        return "ParallelCluster deletes it with its entry in the cluster"
    if loss.moves_to is not None and loss.moves_to == loss.capacity:
        return (
            "ParallelCluster ends all nodes of a queue in which a reservation changes, and starts "
            "them again"
        )
    if loss.moves_to is not None:
        return f"its nodes launch into {loss.moves_to.words} from now on"
    if loss.kind == "capacity" and loss.step.operation == "update":
        return "the stack file no longer has these nodes, or not in the reservation"
    if loss.step.operation == "delete":
        return "it is deleted, because the stack file no longer contains it"
    reasons = ", ".join(loss.step.reasons) or "the object that contains it is replaced"
    return f"it is deleted and replaced by a new one, because of {show(reasons)}"


def _collision(collision: Collision, background: Background) -> Iterator[str]:
    comes, goes = printable(collision.comes.name), printable(collision.goes.name)
    place, size = collision.capacity.words, _SIZE_KEYS.get(collision.comes.type, "desired")
    itself = comes == goes
    yield (
        f"\n  new nodes of {comes} would start in {place} while its old ones still run"
        if itself
        else f"\n  {comes} would start in {place} while {goes} still runs"
    )
    yield (
        "    why not: new nodes start before old ones are deleted, and it is not known that the "
        "reservation has instances for both (set `instance_count` of the reservation)"
    )
    if collision.comes.type == SLURM_CLUSTER:
        yield "    instead: destroy the cluster, and create it again:"
        yield f"      {background.destroy}"
        yield f"      {background.command}"
        return
    if itself:
        yield (
            f"    instead: two updates: first this one with `{size}: 0`, so that nodes start only "
            "for jobs, after the old ones are deleted; then one with the original number"
        )
        return
    yield (
        f"    instead: two updates: first one without either entry (it needs --replace {goes}), "
        f"then one with the new entry; or set `{size}: 0` for the new group in the first"
    )


_SIZE_KEYS = {COMPUTE_ENVIRONMENT: "minimum"}
"""Key of the initial number of nodes of a group, if it is not `desired`."""


def _running_block(step: PlannedStep) -> Iterator[str]:
    yield (
        f"\n  {printable(step.name)} has nodes in a Capacity Block, which this update would replace"
    )
    yield "    why not: EKS updates the node group of a block only while its desired size is 0"
    yield (
        "    instead: three updates: one with `desired: 0`, which terminates nodes and jobs while "
        "the block continues; this change; one with the original size"
    )
    yield (
        "    or later: keep the nodes until the block ends, with the stack file as it was; if the "
        "update only changes the hop limit of the metadata, set `metadata_hop_limit` of the node "
        "group to that of its nodes: 1, or 2 for nodes that trainyard 0.1 created"
    )


def _moved_network(
    step: PlannedStep, staying: Sequence[str], background: Background
) -> Iterator[str]:
    yield f"\n  {printable(step.name)} would be replaced, but resources in it cannot move"
    yield f"    why not: it contains {', and '.join(staying)}; the update would fail halfway"
    yield (
        "    instead: revert the stack file; or destroy the stack with everything in it, and "
        "create it again:"
    )
    yield f"      {background.destroy}"
    yield f"      {background.command}"


def _ways_out(verdict: UpdateVerdict, command: str) -> Iterator[str]:
    if not verdict.losses or verdict.is_impossible:
        return
    names = dict.fromkeys(loss.name for loss in verdict.losses)
    flags = " ".join(f"--replace {shlex.quote(name)}" for name in names)
    yield "\nto keep it, revert the stack file; to allow the deletion, name it:"
    yield f"  {command} {flags}"
