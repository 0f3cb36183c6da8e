"""How long `check` takes beside the check that ParallelCluster itself has.

    .venv/bin/python -m benchmarks.parallelcluster [rounds]

For each ParallelCluster stack: `./trainyard check <stack> --sandbox`, from start to end, and
`pcluster create-cluster --dryrun true` for the stack's cluster file against the sandbox's account,
one after the other in each round; and what the real validators say of the file. Needs a sandbox
that runs (`./trainyard sandbox start`), and reads it only.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import yaml
from rich.console import Console
from rich.table import Table

from components.account.prepare import look_up, prepare
from components.parallelcluster.plan import ParallelClusterPlan
from components.parallelcluster.references import Reference, resolve
from components.parallelcluster.rendering.cluster import render_cluster, to_yaml
from sandbox.account.stacks import completion
from tools.cli.checks import config_of
from tools.cli.sandbox_session import running_sandbox
from tools.cli.session import account_access
from tools.parallelcluster.dryrun import create_cluster_dryrun
from tools.parallelcluster.validators import validate
from tools.workspace.stack_files import ROOT, completed, find_stack_file

DEFAULT_ROUNDS = 3
REGION = "us-west-2"
STACKS = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.pc-*.yaml"))
STAND_INS = {"public": "subnet-0d000000000000001", "private": "subnet-0d000000000000002"}
"""Subnets of the sandbox's account for those of a VPC that a stack has yet to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured of one stack."""

    stack: str
    check_seconds: list[float]
    dryrun_seconds: list[float]
    said: Counter[str]
    """Number of the validators' messages, by level."""

    @property
    def ratio(self) -> float:
        """Time of `check` as a part of the dry run's."""
        return statistics.median(self.check_seconds) / statistics.median(self.dryrun_seconds)


def main() -> None:
    """Measure every stack and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS
    endpoint = running_sandbox().aws_endpoint
    with account_access(sandbox=True):
        configurations = {stack: _configuration(stack) for stack in STACKS}
    said = validate(configurations, aws_endpoint=endpoint, region=REGION)
    _print(
        [
            Figures(
                stack=stack,
                said=Counter(message.level for message in said[stack].messages),
                **_times(stack, configuration, endpoint, rounds),
            )
            for stack, configuration in configurations.items()
        ]
    )


def _configuration(stack: str) -> dict[str, Any]:
    """Return the cluster file of a stack, its subnets chosen by the account."""
    stack_file = completed(find_stack_file(stack), completion(stack))
    config = config_of(stack_file)
    prepared = prepare(
        config,
        look_up(config, region=REGION),
        stack_file=stack_file.name,
        region=REGION,
        now=datetime.now(UTC),
    )
    plan = cast("ParallelClusterPlan", prepared.plan)
    # Plain text again, as a user has it in a file.
    return yaml.safe_load(to_yaml(resolve(render_cluster(plan), _id_of)))


def _id_of(reference: Reference) -> str:
    if reference.name.startswith("subnet-"):
        return reference.name
    return STAND_INS[reference.name.partition("-")[0]]


def _times(
    stack: str, configuration: dict[str, Any], endpoint: str, rounds: int
) -> dict[str, list[float]]:
    checks: list[float] = []
    dryruns: list[float] = []
    for _ in range(rounds):
        started = time.monotonic()
        subprocess.run(
            [ROOT / "trainyard", "check", stack, "--sandbox"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        checks.append(time.monotonic() - started)
        done = create_cluster_dryrun(configuration, aws_endpoint=endpoint, region=REGION)
        dryruns.append(done.seconds)
    return {"check_seconds": checks, "dryrun_seconds": dryruns}


def _print(figures: list[Figures]) -> None:
    levels = sorted({level for each in figures for level in each.said})
    table = Table("stack", "check, median", "dry run, median", "check / dry run", *levels)
    for each in figures:
        table.add_row(
            each.stack,
            f"{statistics.median(each.check_seconds):.2f} s",
            f"{statistics.median(each.dryrun_seconds):.2f} s",
            f"{each.ratio:.2f}",
            *(str(each.said[level]) for level in levels),
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
