"""Run the real ParallelCluster validation on cluster configurations.

It runs in a separate process (`sandbox/parallelcluster/validation.py`), which takes several seconds
to start: validate many configurations in one call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.tracked import ROOT
from tools.parallelcluster.process import Configuration, ask
from trainyard.sandbox.access import NO_ACCOUNT, Endpoint

SCRIPT = ROOT / "sandbox" / "parallelcluster" / "validation.py"


_ANY_REGION = "us-west-2"
"""The schema requires a region; no update check depends on it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of ParallelCluster on a configuration."""

    level: str
    """`ERROR`, `WARNING` or `INFO`."""
    validator: str
    """Class of the validator; `ConfigSchemaValidator` for the schema."""
    text: str


@dataclass(frozen=True, slots=True)
class Validation:
    """ParallelCluster's result for a configuration."""

    loaded: bool
    """Whether the schema loads the configuration; only then do the validators run."""
    messages: tuple[Message, ...]

    @property
    def errors(self) -> tuple[Message, ...]:
        """The messages for which `pcluster create-cluster` rejects the configuration."""
        return tuple(each for each in self.messages if each.level == "ERROR")

    @property
    def refused_by(self) -> frozenset[str]:
        """The validators that reject the configuration; empty if it is valid."""
        return frozenset(each.validator for each in self.errors)


@dataclass(frozen=True, slots=True)
class UpdateRow:
    """ParallelCluster's result for a difference between two configurations."""

    path: tuple[str, ...]
    """Path of the setting: `("Scheduling", "SlurmQueues[gpu]", …)`."""
    parameter: str
    old_value: Any
    new_value: Any
    check: str
    """`SUCCEEDED`, `ACTION NEEDED` or `FAILED`."""
    reason: str
    action_needed: str
    """What to do so that the change succeeds; empty if that is impossible."""
    update_policy: str
    """Name of the policy: `UNSUPPORTED`, `QUEUE_UPDATE_STRATEGY`, …"""


@dataclass(frozen=True, slots=True)
class UpdateCheck:
    """ParallelCluster's result for a changed configuration of a running cluster."""

    allowed: bool
    rows: tuple[UpdateRow, ...]
    """The rejected changes, and the allowed ones that ParallelCluster reports."""


def validate(
    configs: Mapping[str, Configuration],
    *,
    account: Endpoint,
    region: str,
    suppress: Collection[str] | Mapping[str, Collection[str]] = (),
) -> dict[str, Validation]:
    """Load and validate configurations against an account, all in one process.

    Args:
        configs: Configurations by cluster name.
        account: Endpoint of all AWS calls, which is that of a sandbox.
        region: Region of the clusters.
        suppress: Validators to skip, for all clusters or by cluster name; `ALL` skips all of them.

    Returns:
        ParallelCluster's result by cluster name.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    left_out = suppress if isinstance(suppress, Mapping) else dict.fromkeys(configs, suppress)
    request = {
        "call": "validate",
        "configs": {
            name: {"config": config, "suppress": sorted(left_out.get(name, ()))}
            for name, config in configs.items()
        },
    }
    answer = ask(SCRIPT, request, account=account, region=region)
    return {
        name: Validation(
            loaded=each["loaded"], messages=tuple(Message(**it) for it in each["messages"])
        )
        for name, each in answer.items()
    }


def read(configs: Sequence[Configuration]) -> list[dict[str, Any]]:
    """Return configurations as ParallelCluster's schema loads them, all in one process.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: the schema does not load one of them.
    """
    request = {"call": "read", "configs": list(configs)}
    return ask(SCRIPT, request, account=NO_ACCOUNT, region=_ANY_REGION)


def update_check(old: Configuration, new: Configuration) -> UpdateCheck:
    """Return which changes ParallelCluster rejects while head, compute and login nodes run.

    Args:
        old: Configuration of the running cluster.
        new: The new configuration.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    (checked,) = update_checks([(old, new)])
    return checked


def update_checks(changes: Sequence[tuple[Configuration, Configuration]]) -> list[UpdateCheck]:
    """Check many changes, each an old and a new configuration, in one process.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    pairs = [{"old": old, "new": new} for old, new in changes]
    request = {"call": "update_check", "changes": pairs}
    answer = ask(SCRIPT, request, account=NO_ACCOUNT, region=_ANY_REGION)
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
