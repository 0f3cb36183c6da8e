"""Faults injected into whole stacks, and how a stack recovers from them.

Run it manually for any stack: `python -m tests.support.faults pc-p4de-g5`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.remains import difference, normalised, remains, removed_by_hand, untold
from tests.support.sandbox import Done, Sandbox
from tests.support.tracked import ROOT

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
    """A stack, with the fault that makes its first `up` fail."""

    stack: str
    fatal: str
    """One entry of a schedule, a flow mapping of YAML without its braces."""
    said: str
    """Expected text in the messages."""


CAPACITY = "call: 'ec2:RunInstances', happens: insufficient-capacity, times: always"
RULES = "call: 'ec2:AuthorizeSecurityGroupIngress', happens: quota-exceeded, times: always"
LIVES = (
    Thrown("p5-cb", CAPACITY, "InsufficientInstanceCapacity"),
    Thrown("eks-p5-odcr", CAPACITY, "InsufficientInstanceCapacity"),
    # ParallelCluster tries a launch first, and truncates the beginning of its message.
    Thrown("pc-gpu", CAPACITY, "do not have sufficient capacity"),
    Thrown("batch-p5", RULES, "RulesPerSecurityGroupLimitExceeded"),
    Thrown("batch-p4d", RULES, "RulesPerSecurityGroupLimitExceeded"),
)
"""EKS with a Capacity Block and with an ODCR, ParallelCluster, AWS Batch without and with a
repository that is protected."""


@dataclass(slots=True)
class Life:
    """The results of one stack."""

    failed: Done | None = None
    """The `up` under the fatal fault."""
    read: dict[str, Done] = field(default_factory=dict[str, Done])
    """`preview` and `check --live` under transient faults, by command."""
    kept: list[str] = field(default_factory=list[str])
    """Protected objects that `destroy` under transient faults retained."""
    left: list[str] = field(default_factory=list[str])
    """Those of them that it did not name."""
    differences: list[str] = field(default_factory=list[str])
    """Differences between the stack created under transient faults and without faults."""
    happened: int = 0
    """Faults that happened during that `up`."""


def live(sandbox: Sandbox, thrown: Thrown, folder: Path) -> Life:
    """Fail, retry without faults, then destroy and create again under transient faults."""
    stack, life = thrown.stack, Life()
    before = sandbox.inventory()
    throw(sandbox, folder, [thrown.fatal])
    life.failed = sandbox.run("up", stack, "--sandbox", "--yes")
    sandbox.must("sandbox", "faults", "--clear")
    sandbox.must("up", stack, "--sandbox", "--yes")
    undisturbed = normalised(sandbox.inventory(), before)
    for command in (("preview", stack, "--sandbox"), ("check", stack, "--live", "--sandbox")):
        throw(sandbox, folder, READING)
        life.read[command[0]] = sandbox.run(*command)
    throw(sandbox, folder, DURING_DESTROY)
    answer = sandbox.must("destroy", stack, "--sandbox", "--yes").stdout
    after = sandbox.inventory()
    life.kept, life.left = remains(before, after), untold(before, after, answer)
    removed_by_hand(sandbox, before)
    sandbox.must("sandbox", "faults", SURVIVABLE)
    sandbox.must("up", stack, "--sandbox", "--yes")
    said = sandbox.must("sandbox", "faults", "--json").stdout
    life.happened = said.count('"happened": ') - said.count('"happened": 0')
    sandbox.must("sandbox", "faults", "--clear")
    life.differences = difference(undisturbed, normalised(sandbox.inventory(), before))
    return life


def throw(sandbox: Sandbox, folder: Path, entries: Sequence[str]) -> None:
    """Activate faults."""
    schedule = folder / "schedule.yaml"
    schedule.write_text("".join(f"- {{{each}}}\n" for each in entries), encoding="utf-8")
    sandbox.must("sandbox", "faults", schedule)
