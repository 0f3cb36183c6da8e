"""Faults thrown at whole stacks: what is thrown, and how a stack lives through it.

By hand, for any stack: `python -m tests.support.faults pc-p4de-g5`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.kills.inventories import difference, normalised
from tests.support.sandbox import Done, Sandbox
from tests.support.tracked import ROOT

_BATCH_NAME = re.compile(r"-[0-9a-f]{26}\b")
"""The end of a name that the official provider completes from a prefix."""
SURVIVABLE = ROOT / "tests" / "support" / "faults" / "schedules" / "survivable.yaml"
DURING_DESTROY = (
    "call: 'ec2:Delete*', happens: throttled, times: 2",
    "call: 'iam:Delete*', happens: internal-error, times: 2",
    "call: '*:Delete*', happens: connection-reset, nth: 5",
)
READING = (
    "call: '*:Describe*', happens: throttled, times: 2",
    "call: 'sts:*', happens: internal-error",
)
"""For commands that change nothing."""


@dataclass(frozen=True)
class Thrown:
    """A stack, with the fault that its first `up` does not survive."""

    stack: str
    fatal: str
    """One entry of a schedule, a flow mapping of YAML without its braces."""
    said: str
    """What stands in the messages then."""


CAPACITY = "call: 'ec2:RunInstances', happens: insufficient-capacity, times: always"
LIVES = (
    Thrown("p5-cb", CAPACITY, "InsufficientInstanceCapacity"),
    Thrown(
        "batch-p4d",
        "call: 'ec2:AuthorizeSecurityGroupIngress', happens: quota-exceeded, times: always",
        "RulesPerSecurityGroupLimitExceeded",
    ),
)
"""A Capacity Block on EKS, and AWS Batch."""


@dataclass(slots=True)
class Life:
    """What was seen."""

    failed: Done | None = None
    """The `up` under the fault that none survives."""
    read: dict[str, Done] = field(default_factory=dict[str, Done])
    """`preview` and `check --live` under faults that pass, by command."""
    left: list[str] = field(default_factory=list[str])
    """What `destroy` under faults that pass left."""
    differences: list[str] = field(default_factory=list[str])
    """Between the stack made under faults that pass, and made without."""
    happened: int = 0
    """Faults that happened during that `up`."""


def live(sandbox: Sandbox, thrown: Thrown, folder: Path) -> Life:
    """Fail, try again without faults, destroy and make again under faults that pass."""
    stack, life = thrown.stack, Life()
    before = sandbox.objects()
    throw(sandbox, folder, [thrown.fatal])
    life.failed = sandbox.run("up", stack, "--sandbox", "--yes")
    sandbox.must("sandbox", "faults", "--clear")
    sandbox.must("up", stack, "--sandbox", "--yes")
    undisturbed = _normalised(sandbox.objects(), before)
    for command in (("preview", stack, "--sandbox"), ("check", stack, "--live", "--sandbox")):
        throw(sandbox, folder, READING)
        life.read[command[0]] = sandbox.run(*command)
    throw(sandbox, folder, DURING_DESTROY)
    sandbox.must("destroy", stack, "--sandbox", "--yes")
    life.left = difference(_normalised(before, before), _normalised(sandbox.objects(), before))
    sandbox.must("sandbox", "faults", SURVIVABLE)
    sandbox.must("up", stack, "--sandbox", "--yes")
    said = sandbox.must("sandbox", "faults", "--json").stdout
    life.happened = said.count('"happened": ') - said.count('"happened": 0')
    sandbox.must("sandbox", "faults", "--clear")
    life.differences = difference(undisturbed, _normalised(sandbox.objects(), before))
    return life


def _normalised(inventory: Iterable[str], before: Iterable[str]) -> list[str]:
    """Return an inventory without what AWS makes up, names of Batch among it."""
    return normalised((_BATCH_NAME.sub("-*", line) for line in inventory), before)


def throw(sandbox: Sandbox, folder: Path, entries: Sequence[str]) -> None:
    """Put faults in force."""
    schedule = folder / "schedule.yaml"
    schedule.write_text("".join(f"- {{{each}}}\n" for each in entries), encoding="utf-8")
    sandbox.must("sandbox", "faults", schedule)
