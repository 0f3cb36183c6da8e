"""Commands as whole processes, compared with the least that Python has to do for them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import yaml

from tools.benchmarks.measuring import Comparison, Run, Spent, alternate, run_call, run_process
from tools.benchmarks.projects import (
    Project,
    empty_program,
    flat_program,
    pack_of_one_rule,
    project,
)
from tools.parallelcluster.dryrun import create_cluster_dryrun
from tools.repository import ROOT
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.prepare import prepare
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering import render_cluster, to_yaml
from trainyard.sandbox.access import Endpoint
from trainyard.sandboxes.session import running_sandbox
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import find_stack_file, stack_names
from trainyard.workspace.accounts import SandboxAccount

# `check` as a whole process, compared with Python that imports only the required packages.
#
# One run checks a stack with a complete stack file, another run checks all stacks. The second costs
# more only by their plans, because Python and the schema are loaded once.


STACK = "dev"
IMPORTS = "import pydantic, yaml"
BUDGET_OF_ONE = 3.0
BUDGET_OF_ALL = 2.0


def measure_check(rounds: int) -> list[Comparison]:
    """Return both lines of the table."""
    stacks = stack_names()
    of_one, of_all, against = "check of one stack", f"check of {len(stacks)} stacks", IMPORTS
    sides: dict[str, Run] = {
        against: lambda: run_process([sys.executable, "-c", IMPORTS]),
        of_one: lambda: run_process([ROOT / "trainyard", "check", STACK]),
        of_all: lambda: run_process([ROOT / "trainyard", "check", "--sandbox", *stacks]),
    }
    runs = alternate(sides, rounds)
    return [
        Comparison(name="check", of=of_one, against=against, budget=BUDGET_OF_ONE, runs=runs),
        Comparison(name="check-all", of=of_all, against=of_one, budget=BUDGET_OF_ALL, runs=runs),
    ]


# `lint` of every file of the corpus, compared with one, as whole processes.
#
# Each further file costs reading, conversion, plan and report; Python and the models are loaded
# once, and the grammar of HCL, which python-hcl2 keeps in a file, once in a process.


CORPUS = ROOT / "tests" / "trainyard" / "importing" / "corpus"
SECONDS_A_FILE = 0.05


def measure_lint(rounds: int) -> list[Comparison]:
    """Return the lines of the table; the budget grows with the number of files."""
    # Not those that `lint` refuses, in the folders below.
    files = sorted(CORPUS.glob("*/*.yaml"))
    directories = sorted({each.parent for each in CORPUS.glob("terraform/*/*.tf")})
    # Of one kind of stack, whose planner is loaded once; the plan is the further file.
    plans = sorted(CORPUS.glob("terraform/eks*.json"), reverse=True)
    return [
        _measured("lint", "files", files, len(files), rounds),
        _measured(
            "lint-terraform",
            "directories of Terraform",
            directories,
            len([*CORPUS.glob("terraform/*/*.tf")]),
            rounds,
        ),
        _measured("lint-plans", "plans and states of EKS", plans, len(plans), rounds),
    ]


def _measured(name: str, what: str, paths: Sequence[Path], files: int, rounds: int) -> Comparison:
    """Return the line of several paths, in which there are so many files."""
    of, against = f"lint of {len(paths)} {what}", f"lint of one of the {what}"
    runs = alternate(
        {
            against: lambda: run_process([ROOT / "trainyard", "lint", paths[0]]),
            of: lambda: run_process([ROOT / "trainyard", "lint", *paths]),
        },
        rounds,
    )
    return Comparison(
        name=name,
        of=of,
        against=against,
        budget=None,
        budget_seconds_over=SECONDS_A_FILE * (files - 1),
        runs=runs,
    )


# `check`, compared with the validation of ParallelCluster.
#
# `./trainyard check <stack> --sandbox`, from start to end, and `pcluster create-cluster --dryrun
# true` for the stack's cluster file against the sandbox's account. Requires a running sandbox
# (`./trainyard sandbox start`), which it only reads.


BUDGET = 0.2
REGION = "us-west-2"
PARALLELCLUSTER_STACK = "pc-p4de-ami"
STAND_INS = {"public": "subnet-0d000000000000001", "private": "subnet-0d000000000000002"}
"""Subnets of the sandbox's account, in place of those of a VPC that a stack has not created."""


def measure_parallelcluster(rounds: int) -> list[Comparison]:
    """Return the line of the table."""
    account = running_sandbox().status.endpoint
    with SandboxAccount().access():
        configuration = _configuration(PARALLELCLUSTER_STACK)
    of, against = f"check of {PARALLELCLUSTER_STACK}", "pcluster create-cluster --dryrun"
    sides: dict[str, Run] = {
        of: lambda: run_process([ROOT / "trainyard", "check", PARALLELCLUSTER_STACK, "--sandbox"]),
        against: _dryrun(configuration, account),
    }
    runs = alternate(sides, rounds)
    return [
        Comparison(
            name="parallelcluster",
            of=of,
            against=against,
            budget=BUDGET,
            runs=runs,
        )
    ]


def _dryrun(configuration: dict[str, Any], account: Endpoint) -> Run:
    return lambda: run_call(
        lambda: create_cluster_dryrun(configuration, account=account, region=REGION)
    )


def _configuration(stack: str) -> dict[str, Any]:
    """Return the cluster file of a stack, its subnets chosen by the account."""
    stack_file = completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack)))
    config = config_of(stack_file)
    prepared = prepare(
        config,
        look_up(config, region=REGION),
        stack_file=stack_file.name,
        region=REGION,
        now=datetime.now(UTC),
    )
    plan = cast("ParallelClusterPlan", prepared.plan)
    # As plain text, like a user's file.
    return yaml.safe_load(to_yaml(resolve(render_cluster(plan), _id_of)))


def _id_of(reference: Reference) -> str:
    if reference.name.startswith("subnet-"):
        return reference.name
    return STAND_INS[reference.name.partition("-")[0]]


# Measure the cost of the program and its policy pack in a preview.
#
# It compares the program with a flat one that registers the same resources with literal inputs, and
# the whole policy pack with a pack of one rule. It requires a running sandbox (`./trainyard sandbox
# start`), whose emulated provider plugins are the same for every side.


BUDGET_OF_PROGRAM = 1.10
BUDGET_OF_PACK = 1.25
BUDGET_OF_PACK_SECONDS = 1.0
PROGRAM, FLAT, EMPTY = "the program", "a flat program", "an empty program"
PACK, ONE_RULE = "with the policy pack", "with a pack of one rule"


def measure_preview(
    rounds: int,
    *,
    project_of: Callable[[Path, str, Path], Project] = project,
    flat: Callable[[Path], Path] = flat_program,
) -> list[Comparison]:
    """Return the lines of the table; an empty program is one of the sides.

    Args:
        rounds: The number of rounds.
        project_of: Returns the project with a name that runs the program of a directory.
        flat: Writes the flat program, and returns its directory.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        runs = alternate(_sides(Path(directory), project_of, flat), rounds)
    return [
        _line("preview", PROGRAM, FLAT, runs, budget=BUDGET_OF_PROGRAM),
        _line("policies", PACK, ONE_RULE, runs, budget=BUDGET_OF_PACK),
        _line("pack", PACK, PROGRAM, runs, budget_seconds_over=BUDGET_OF_PACK_SECONDS),
    ]


def _line(
    name: str,
    of: str,
    against: str,
    runs: Mapping[str, Sequence[Spent]],
    *,
    budget: float | None = None,
    budget_seconds_over: float | None = None,
) -> Comparison:
    return Comparison(
        name=name,
        of=of,
        against=against,
        runs=runs,
        budget=budget,
        budget_seconds_over=budget_seconds_over,
    )


def _sides(
    scratch: Path,
    project_of: Callable[[Path, str, Path], Project],
    flat_program: Callable[[Path], Path],
) -> dict[str, Run]:
    program = project_of(scratch, "program", ROOT)
    flat = project_of(scratch, "flat", flat_program(scratch))
    empty = project_of(scratch, "empty", empty_program(scratch))
    one_rule = pack_of_one_rule(scratch)
    return {
        PROGRAM: program.preview,
        FLAT: flat.preview,
        EMPTY: empty.preview,
        PACK: lambda: program.preview("--policy-pack", str(ROOT / "policies")),
        ONE_RULE: lambda: program.preview("--policy-pack", str(one_rule)),
    }
