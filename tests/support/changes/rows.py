"""One row of the change matrix: a changed key, and the effects of an update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.changes.edits import Edit
from tests.support.changes.eks_children import CLUSTER, children
from tests.support.changes.run import Key, by_key, deployed, identifier, watched
from tests.support.changes.verdicts import ProviderVerdict, verdict
from tests.support.cloud import Registered
from tests.support.stacks import NOW
from trainyard.changes.losses import (
    Collision,
    Loss,
    collisions,
    losses,
    moved_networks,
    running_blocks,
)
from trainyard.changes.steps import PlannedStep
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError

REGION = "us-west-2"

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The effects of one change on a stack."""

    edit: Edit
    refused: tuple[str, ...] = ()
    """Keys with their problems; the account and the state stay as they are."""
    steps: tuple[PlannedStep, ...] = ()
    """Steps that change a resource."""
    everything: tuple[PlannedStep, ...] = ()
    """Those that change nothing, too; empty if the plan does not change."""
    deletes_first: frozenset[str] = frozenset()
    """URNs of resources that are deleted before they are replaced."""
    protected: tuple[str, ...] = ()
    """Names of protected resources that would be deleted: the engine refuses in the preview."""
    losses: tuple[Loss, ...] = ()
    collisions: tuple[Collision, ...] = ()
    running_blocks: tuple[PlannedStep, ...] = ()
    moved_networks: tuple[PlannedStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A stack that is up."""

    name: str
    raw: Mapping[str, Any]
    plan: AnyPlan
    facts: AccountFacts
    resources: Mapping[Key, Registered]


def planned(raw: Mapping[str, Any], name: str, facts: AccountFacts) -> AnyPlan:
    """Return the plan of a configuration in an account.

    Raises:
        ConfigError: schema, plan or account refuse it.
    """
    stack_file = f"Pulumi.{name}.yaml"
    config = load_stack_config(raw, stack_file=stack_file)
    return prepare(config, facts, stack_file=stack_file, region=REGION, now=NOW).plan


def row(edit: Edit, base: Base) -> Row:
    """Return the effects of an update with this change on a stack that is up."""
    try:
        plan = planned(edit.raw, base.name, base.facts)
    except ConfigError as error:
        return refused(edit, error)
    return update(edit, base, plan)


def refused(edit: Edit, error: ConfigError) -> Row:
    """Return the row of a change that schema, plan or account refuse."""
    return Row(edit=edit, refused=tuple(_problems(error)))


def update(edit: Edit, base: Base, plan: AnyPlan) -> Row:
    """Return the effects of an update to the plan of the changed configuration."""
    if plan == base.plan:
        return Row(edit=edit)
    after = by_key(deployed(plan, base.name, base.resources))
    compared = [*_compared(base.resources, after)]
    found = [each for each in compared if each[0].operation != "same"]
    # Unchanged resources tell which reservation a group uses.
    everything = [step for step, _ in compared]
    instances = _instances(edit.raw)
    return Row(
        edit=edit,
        steps=tuple(step for step, _ in found),
        everything=tuple(everything),
        deletes_first=frozenset(step.urn for step, said in found if said.deletes_first),
        protected=tuple(_protected(base.resources, found)),
        losses=losses(everything),
        collisions=collisions(everything, instances),
        running_blocks=running_blocks(everything),
        moved_networks=moved_networks(everything),
    )


def _protected(
    before: Mapping[Key, Registered], found: Sequence[tuple[PlannedStep, ProviderVerdict]]
) -> Iterator[str]:
    for step, _ in found:
        old = before.get((step.type, step.name))
        if step.operation in ("delete", "replace") and old is not None and old.protect:
            yield step.name


def _problems(error: ConfigError) -> Iterator[str]:
    for problem in error.problems:
        yield f"{problem.path.removeprefix(f'{ROOT}.')}: {' '.join(str(problem.problem).split())}"


def _instances(raw: Mapping[str, Any]) -> dict[str, int]:
    return {
        each["reservation_id"]: each["instance_count"]
        for each in (raw.get("reservations") or {}).values()
        if "reservation_id" in each and "instance_count" in each
    }


def _compared(
    before: Mapping[Key, Registered], after: Mapping[Key, Registered]
) -> Iterator[tuple[PlannedStep, ProviderVerdict]]:
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if key[0] == CLUSTER:
            yield from _component(old, new)
        else:
            yield _step(old, new)


def _component(
    old: Registered | None, new: Registered | None
) -> Iterator[tuple[PlannedStep, ProviderVerdict]]:
    """Yield the steps of the children of a component that a plugin creates."""
    was, becomes = ({} if each is None else children(each) for each in (old, new))
    for key in sorted({*was, *becomes}):
        yield _step(was.get(key), becomes.get(key))


def _step(old: Registered | None, new: Registered | None) -> tuple[PlannedStep, ProviderVerdict]:
    some: Any = new or old
    said = ProviderVerdict()
    if old is None:
        operation = "create"
    elif new is None:
        operation = "delete"
    else:
        seen = watched(new.inputs, old.inputs, new.ignore_changes)
        said = verdict(some.type, some.name, old.inputs, seen)
        operation = "replace" if said.replacing else "update" if said.changed else "same"
        first = said.deletes_first or new.deletes_first
        said = ProviderVerdict(said.changed, said.replacing, bool(said.replacing) and first)
    step = PlannedStep(
        operation=operation,
        urn=some.urn,
        type=some.type,
        identifier="" if old is None else identifier(old.type, old.name),
        old={} if old is None else old.inputs,
        new={} if new is None else new.inputs,
        changed=said.changed,
        reasons=said.replacing,
        retained=old is not None and old.retain_on_delete,
    )
    return step, said
