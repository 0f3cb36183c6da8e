"""Asks the real ParallelCluster what it thinks of cluster configurations.

It answers from a process of its own environment (`sandbox/parallelcluster/validation.py`), which
takes some seconds to start: ask for many configurations at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.lock import ROOT
from tools.parallelcluster.process import Configuration, ask

SCRIPT = ROOT / "sandbox" / "parallelcluster" / "validation.py"

_NOWHERE = "http://127.0.0.1:9"
"""An update is judged by its two configurations: no account is asked, and this one cannot be."""

_ANY_REGION = "us-west-2"
"""The schema wants a region to be set; no answer on an update depends on it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that ParallelCluster has to say of a configuration."""

    level: str
    """`ERROR`, `WARNING` or `INFO`."""
    validator: str
    """Class of the validator that says it; `ConfigSchemaValidator` for the schema."""
    text: str


@dataclass(frozen=True, slots=True)
class Validation:
    """What ParallelCluster says of one configuration."""

    loaded: bool
    """Whether its schema loads the configuration; the validators only run where it does."""
    messages: tuple[Message, ...]

    @property
    def errors(self) -> tuple[Message, ...]:
        """The messages for which `pcluster create-cluster` refuses the configuration."""
        return tuple(each for each in self.messages if each.level == "ERROR")

    @property
    def refused_by(self) -> frozenset[str]:
        """The validators that refuse the configuration; empty where none does."""
        return frozenset(each.validator for each in self.errors)


@dataclass(frozen=True, slots=True)
class UpdateRow:
    """What ParallelCluster says of one difference between two configurations."""

    path: tuple[str, ...]
    """Where the setting stands: `("Scheduling", "SlurmQueues[gpu]", …)`."""
    parameter: str
    old_value: Any
    new_value: Any
    check: str
    """`SUCCEEDED`, `ACTION NEEDED` or `FAILED`."""
    reason: str
    action_needed: str
    """What to do so that the change goes through; empty where nothing helps."""
    update_policy: str
    """Name of the policy: `UNSUPPORTED`, `QUEUE_UPDATE_STRATEGY`, …"""


@dataclass(frozen=True, slots=True)
class UpdateCheck:
    """What ParallelCluster says of a changed configuration while the cluster runs."""

    allowed: bool
    rows: tuple[UpdateRow, ...]
    """The changes that are refused, and those allowed ones that ParallelCluster reports."""


def validate(
    configs: Mapping[str, Configuration],
    *,
    aws_endpoint: str,
    region: str,
    suppress: Collection[str] | Mapping[str, Collection[str]] = (),
) -> dict[str, Validation]:
    """Load and validate configurations against an account, all in one process.

    Args:
        configs: Configurations by cluster name.
        aws_endpoint: Where every AWS call goes: the endpoint of a sandbox.
        region: Region of the clusters.
        suppress: Validators that are left out, for all clusters or by cluster name; `ALL` is all
            of them.

    Returns:
        By cluster name what ParallelCluster says.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: ParallelCluster broke.
    """
    left_out = suppress if isinstance(suppress, Mapping) else dict.fromkeys(configs, suppress)
    request = {
        "call": "validate",
        "configs": {
            name: {"config": config, "suppress": sorted(left_out.get(name, ()))}
            for name, config in configs.items()
        },
    }
    answer = ask(SCRIPT, request, aws_endpoint=aws_endpoint, region=region)
    return {
        name: Validation(
            loaded=each["loaded"], messages=tuple(Message(**it) for it in each["messages"])
        )
        for name, each in answer.items()
    }


def read(configs: Sequence[Configuration]) -> list[dict[str, Any]]:
    """Return configurations as ParallelCluster understands them, all in one process.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: ParallelCluster's schema does not load one of them.
    """
    request = {"call": "read", "configs": list(configs)}
    return ask(SCRIPT, request, aws_endpoint=_NOWHERE, region=_ANY_REGION)


def update_check(old: Configuration, new: Configuration) -> UpdateCheck:
    """Tell which changes ParallelCluster refuses while head node, compute and login nodes run.

    Args:
        old: Configuration of the running cluster.
        new: The one that is wanted.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: ParallelCluster broke.
    """
    (checked,) = update_checks([(old, new)])
    return checked


def update_checks(changes: Sequence[tuple[Configuration, Configuration]]) -> list[UpdateCheck]:
    """Check many changes, each an old and a new configuration, in one process.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: ParallelCluster broke.
    """
    pairs = [{"old": old, "new": new} for old, new in changes]
    request = {"call": "update_check", "changes": pairs}
    answer = ask(SCRIPT, request, aws_endpoint=_NOWHERE, region=_ANY_REGION)
    return [
        UpdateCheck(allowed=each["allowed"], rows=tuple(_row(row) for row in each["rows"]))
        for each in answer
    ]


def _row(row: Mapping[str, Any]) -> UpdateRow:
    return UpdateRow(
        path=tuple(row["param_path"]),
        parameter=row["parameter"],
        old_value=row["old value"],
        new_value=row["new value"],
        check=row["check"],
        reason=row["reason"],
        action_needed=row["action_needed"] or "",
        update_policy=row["update_policy"],
    )
