"""The tests of `verify`, also those of `up --verify`: nodes, jobs and what they found."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.cli import console, failures
from trainyard.jobs.names import DCGM_DIAG, PAIRS_OF
from trainyard.schedulers.job_wait import NO_CONTAINERS, JobWait, RequestedJob
from trainyard.schedulers.scheduler import Scheduler, make_test
from trainyard.stack_files.files import given_bytes
from trainyard.verify.collective_log import read_log
from trainyard.verify.inventory import Inventory
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.stages import (
    Stage,
    judge,
    judge_dcgm,
    judge_intra_node,
    judge_pairs,
    judge_versions,
    read_diagnoses,
    read_pairs,
    read_parts,
    read_versions,
)
from trainyard.verify.verified import Verified

_NOT_RUN = (
    "the nodes are not as planned, and the test would wait for them; --nodes runs it on fewer"
)


def verified(
    stack: str,
    planned: PlannedTest[Any],
    text: str | None,
    *,
    inventory: Inventory | None = None,
    describes_nodes: bool = False,
    minimum_gb_per_second: float | None = None,
) -> Verified:
    """Judge the nodes in the scheduler, and the log of a test or of pairs.

    Args:
        stack: Name of the stack.
        planned: The test and its nodes.
        text: The log; None if no test ran.
        inventory: The nodes in the scheduler; None if they were not read.
        describes_nodes: Whether the log is one of a job that prints the versions of its nodes and
            tests each node alone: such lines must not be missing.
        minimum_gb_per_second: Lowest bus bandwidth that the user accepts; None for the published
            one.
    """
    nodes, said = planned.nodes, text or ""
    log, alone, pairs = read_log(said), read_parts(said, "alone", nodes), read_pairs(said, nodes)
    diagnoses = read_diagnoses(said)
    sources = [inventory.versions if inventory else {}, read_versions(said)]
    stages = [inventory.stage] if inventory else []
    describes_nodes = text is not None and (describes_nodes or _is_of_job(text))
    count = nodes.count if describes_nodes and not pairs and not diagnoses else 0
    stages.append(judge_versions(sources, log, nodes_with_versions=count))
    if pairs:
        stages.append(judge_pairs(pairs, nodes, minimum_gb_per_second=minimum_gb_per_second))
    elif diagnoses:
        stages.append(judge_dcgm(diagnoses, nodes))
    elif text is not None:
        stages.append(judge_intra_node(alone, nodes, is_required=describes_nodes))
        stages += judge(log, nodes, minimum_gb_per_second=minimum_gb_per_second)
    elif inventory and inventory.stage.result == "fail":
        stages.append(Stage(name="test", result="skipped", reason=_NOT_RUN))
    return Verified(
        stack=stack,
        planned=planned,
        stages=tuple(stages),
        log=log,
        alone=alone,
        pairs=pairs,
        minimum_gb_per_second=minimum_gb_per_second,
        versions={component: of for source in sources for component, of in source.items()},
    )


def _is_of_job(text: str) -> bool:
    """Return whether a log has lines that only the jobs of this program write."""
    return re.search(r"^\[(?:alone|node|version) ", text, re.MULTILINE) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to verify."""

    log: Path | None = None
    """A log to judge instead of running a test."""
    only_inventory: bool = False
    """Whether to run no test."""
    pairs: bool | None = None
    """Whether to test pairs of nodes; None to do it if it can name the cause of a failure."""
    dcgm: int | None = None
    """Level of the diagnostics of GPUs; None to omit them."""
    minimum_gb_per_second: float | None = None
    """Lowest bus bandwidth that the user accepts; None for that of the stack file, or the published
    one."""

    @property
    def runs_jobs(self) -> bool:
        """Whether jobs may run."""
        return self.log is None and not self.only_inventory


@dataclass(frozen=True, slots=True)
class _Ran:
    """A job that has run."""

    log: str | None
    """None if it did not run."""
    nodes: frozenset[str] = frozenset()
    """EKS: names of the nodes on which it has run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _FurtherJob:
    """A job after the test of all nodes, with a stage of its own."""

    name: str
    stage: str
    told: str
    """What is told when it starts."""
    judged: Callable[[Verified, str], Verified | None]
    """Returns the result with the stage of a log; None if the log has nothing to judge."""
    missing: str
    """What to say then: a test that did not run is no success."""


def verification(
    scheduler: Scheduler[Any], asked: RequestedJob, planned: PlannedTest[Any], wanted: Wanted
) -> Verified:
    """Return what was found.

    Args:
        scheduler: The scheduler of the nodes.
        asked: The job with the collective test.
        planned: The test and its nodes.
        wanted: What to verify.

    Raises:
        WrongUseError: the log cannot be read, or there are no credentials.
        CommandError: the stack has no cluster, or the test has no log.
    """
    result = _tested(scheduler, asked, planned, wanted)
    if not wanted.runs_jobs or not result.has_test:
        return result
    pairs = result.needs_pairs if wanted.pairs is None else wanted.pairs
    if pairs and scheduler.tests_chosen_nodes:
        further = _FurtherJob(
            name=PAIRS_OF[planned.test],
            stage="pairs",
            told="testing pairs of nodes",
            judged=_with_pairs,
            missing="the log has no pairs",
        )
        result = _with(result, scheduler, asked, further)
    if wanted.dcgm:
        further = _FurtherJob(
            name=DCGM_DIAG,
            stage="dcgm",
            told="running the diagnostics of the GPUs",
            judged=_with_dcgm,
            missing="the log has no diagnostics",
        )
        result = _with(result, scheduler, asked, further)
    return result


def _tested(
    scheduler: Scheduler[Any], asked: RequestedJob, planned: PlannedTest[Any], wanted: Wanted
) -> Verified:
    """Judge a log, or the nodes in the scheduler and the log of a test on them."""
    stack, minimum = scheduler.target.stack, wanted.minimum_gb_per_second
    if wanted.log:
        return verified(stack, planned, _read(wanted.log), minimum_gb_per_second=minimum)
    inventory = scheduler.inventory(planned)
    can_run = wanted.runs_jobs and inventory.stage.result != "fail"
    ran = _ran(scheduler, asked) if can_run else _Ran(None)
    result = verified(
        stack,
        planned,
        ran.log,
        inventory=inventory,
        # The jobs of AWS Batch, whose nodes are not chosen, print only the test.
        describes_nodes=planned.chosen is not None,
        minimum_gb_per_second=minimum,
    )
    return replace(result, tested=ran.nodes)


def _with(
    result: Verified, scheduler: Scheduler[Any], asked: RequestedJob, further: _FurtherJob
) -> Verified:
    """Return the result with the stage of a further job."""
    console.progress(further.told)
    try:
        ran, missing = _ran(scheduler, replace(asked, name=further.name)), further.missing
    except failures.CommandError as error:
        ran, missing = _Ran(None), str(error)
    judged = further.judged(result, ran.log or "")
    if judged is None:
        stage = Stage(name=further.stage, result="fail", reason=missing)
        return replace(result, stages=(*result.stages, stage))
    # With fewer nodes than the node group has, the jobs can run on different ones.
    return replace(judged, tested=result.tested & ran.nodes)


def _with_pairs(result: Verified, log: str) -> Verified | None:
    nodes = result.planned.nodes
    pairs = read_pairs(log, nodes)
    if not pairs:
        return None
    stage = judge_pairs(pairs, nodes, minimum_gb_per_second=result.minimum_gb_per_second)
    return replace(result, stages=(*result.stages, stage), pairs=pairs)


def _with_dcgm(result: Verified, log: str) -> Verified | None:
    diagnoses = read_diagnoses(log)
    if not diagnoses:
        return None
    stage = judge_dcgm(diagnoses, result.planned.nodes)
    return replace(result, stages=(*result.stages, stage))


def _read(path: Path) -> str:
    return given_bytes(path).decode("utf-8", "replace")


def _ran(scheduler: Scheduler[Any], asked: RequestedJob) -> _Ran:
    """Run a job.

    Raises:
        CommandError: the job did not run, or has no log.
    """
    shown: list[str] = []
    nodes: set[str] = set()
    wait = replace(asked.wait or JobWait(), show=shown.append, ran_on=nodes.update)
    unused = dict.fromkeys((*scheduler.pool_options, *scheduler.job_options))
    job = replace(asked, wait=wait, options={**unused, **asked.options})
    try:
        # Standard output has the result only.
        with redirect_stdout(sys.stderr):
            make_test(scheduler, job)
    except failures.CommandError as error:
        if isinstance(error, failures.JobFailedError) and not shown:
            # The exit code of `verify` is not that of its job.
            raise failures.CommandError(str(error)) from error
        if not shown:
            raise
        console.problem(str(error))
    if not shown:
        hint = f"\n  {NO_CONTAINERS}" if scheduler.target.is_sandbox else ""
        raise failures.CommandError(f"the test has ended without a log that could be judged{hint}")
    return _Ran("".join(f"{text.rstrip()}\n" for text in shown), frozenset(nodes))
