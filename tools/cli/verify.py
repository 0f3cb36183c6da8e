"""`verify`: judges the network and the accelerators of a stack by a collective test."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tools.cli import console, failures, options
from tools.cli.job_wait import JobWait, RequestedJob, requested_wait
from tools.cli.jobs import make_of_kind, refuse_foreign
from tools.cli.stack_config import config_of, kind_of, plan_of
from tools.cli.verified_nodes import use_results
from tools.jobs.names import NCCL_PAIRS
from tools.jobs.nodes import JobError
from tools.verify.collective_log import CollectiveLog, read_log
from tools.verify.node_results import OF_ONE_NODE, node_results
from tools.verify.pairs import Pair, judge_pairs, read_pairs
from tools.verify.planned_nodes import PlannedTest, planned_test
from tools.verify.report import junit, report
from tools.verify.verdict import Stage, has_failed, judge
from tools.workspace.files import write_whole
from tools.workspace.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER, StackFile

_COLORS = {"pass": "green", "fail": "red", "skipped": "yellow"}


def verify(
    stack: options.Stack,
    log: Annotated[
        Path | None,
        typer.Option(help="Judge this log of nccl-tests or nccom-tests; run no test."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Number of nodes. Default: as for `job`.")
    ] = None,
    group: Annotated[str | None, typer.Option(help="EKS: node group.")] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="EKS: an existing namespace.")
    ] = None,
    queue: Annotated[str | None, typer.Option(help="Slurm: queue.")] = None,
    compute_resource: Annotated[
        str | None, typer.Option(help="Slurm: compute resource of the queue.")
    ] = None,
    definition: Annotated[str | None, typer.Option(help="Batch: job definition.")] = None,
    minimum_bandwidth: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="GB/S",
            help="Lowest bus bandwidth of the largest message. Default: the threshold of the stack "
            "file, or the published one of the instance type, if there is one.",
        ),
    ] = None,
    pairs: Annotated[
        bool | None,
        typer.Option(
            "--pairs/--no-pairs",
            help="Also test pairs of nodes. Default: if the test of more than two nodes fails. "
            "NVIDIA GPUs in EKS and Slurm.",
        ),
    ] = None,
    drain: Annotated[
        bool, typer.Option("--drain", help="Slurm: drain the nodes that fail.")
    ] = False,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", help="Also write the stages to this file, for CI.")
    ] = None,
    wait_minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Maximum minutes that it can wait for its nodes. Default: 30."),
    ] = None,
    as_json: options.AsJson = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Run a collective test on all accelerators, and fail if the cluster is not as planned.

    EKS, Slurm and Batch: the jobs nccl-tests and nccom-tests. --log judges a log that exists.
    Nodes of EKS are labelled with the result.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    kind = kind_of(found)
    given: dict[str, dict[str, Any]] = {
        EKS: {"--group": group, "--namespace": namespace},
        PARALLELCLUSTER: {"--queue": queue, "--compute-resource": compute_resource},
        BATCH: {"--definition": definition},
    }
    refuse_foreign(given, kind, stack)
    if log is None:
        require_containers(sandbox=sandbox)
    if drain and (log or kind != PARALLELCLUSTER):
        raise failures.WrongUseError("--drain needs a test that `verify` runs on a Slurm cluster")
    planned = planned_of(found, nodes=nodes, given=given.get(kind, {}))
    if pairs and (log or kind == BATCH or planned.test != "nccl-tests" or planned.nodes.count < 2):
        raise failures.WrongUseError(
            "--pairs runs a test on at least two nodes with NVIDIA GPUs of an EKS or Slurm stack"
        )
    minimum = _threshold(found, planned, minimum_bandwidth)
    asked = RequestedJob(
        stack_file=found,
        name=planned.test,
        nodes=nodes,
        options=given[kind],
        submit=True,
        wait=requested_wait(submit=True, wait=True, minutes=wait_minutes),
        sandbox=sandbox,
        verifies=True,
    )
    tested: set[str] = set()
    if log:
        verified = _verified(_read(log), planned, minimum)
    else:
        verified = _tested(asked, kind, planned, minimum, pairs, tested)
    if junit_file is not None:
        write_whole(junit_file, junit(stack, verified.stages))
    _tell(stack, verified, as_json=as_json)
    if log is None:
        nodes_of_test = verified.hosts if kind == PARALLELCLUSTER else tested
        results = node_results(verified.stages, nodes_of_test)
        use_results(results, asked, kind, drain=drain)
    if has_failed(verified.stages):
        raise typer.Exit(failures.WORK_FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verified:
    """A test and its judgement."""

    planned: PlannedTest
    log: CollectiveLog
    stages: tuple[Stage, ...]
    pairs: tuple[Pair, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts in the logs; those of Slurm have the names of the nodes."""
        return self.log.nodes.union(*(pair.nodes for pair in self.pairs))

    @property
    def needs_pairs(self) -> bool:
        """Whether a test of pairs could tell which node is the cause of a failure."""
        failed = {each.name for each in self.stages if each.result == "fail"}
        nvidia = self.planned.test == "nccl-tests"
        return nvidia and self.planned.nodes.count > 2 and bool(failed & OF_ONE_NODE)


def _verified(text: str, planned: PlannedTest, minimum: float | None) -> _Verified:
    """Judge a log of a test, or of pairs."""
    pairs, log = read_pairs(text), read_log(text)
    if pairs:
        stages = (judge_pairs(pairs, planned.nodes, minimum_gb_per_second=minimum),)
    else:
        stages = judge(log, planned.nodes, minimum_gb_per_second=minimum)
    return _Verified(planned=planned, log=log, stages=stages, pairs=pairs)


def _tested(
    asked: RequestedJob,
    kind: str,
    planned: PlannedTest,
    minimum: float | None,
    pairs: bool | None,
    tested: set[str],
) -> _Verified:
    """Run the test and judge its log; test pairs too if asked for, or if they are needed."""
    verified = _verified(_log_of(asked, kind, tested), planned, minimum)
    if kind != BATCH and (pairs or (pairs is None and verified.needs_pairs)):
        verified = _with_pairs(verified, asked, kind, minimum, tested)
    return verified


def _with_pairs(
    verified: _Verified,
    asked: RequestedJob,
    kind: str,
    minimum: float | None,
    tested: set[str],
) -> _Verified:
    """Test pairs of the nodes too."""
    console.progress("testing pairs of nodes")
    skipped = "the log has no pairs"
    pairs: tuple[Pair, ...] = ()
    paired: set[str] = set()
    try:
        pairs = read_pairs(_log_of(replace(asked, name=NCCL_PAIRS), kind, paired))
    except failures.CommandError as error:
        skipped = str(error)
    if pairs:
        stage = judge_pairs(pairs, verified.planned.nodes, minimum_gb_per_second=minimum)
        # With fewer nodes than the node group has, the two jobs can run on different ones.
        tested &= paired
    else:
        stage = Stage(name="pairs", result="skipped", reason=skipped)
    return replace(verified, stages=(*verified.stages, stage), pairs=pairs)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise failures.WrongUseError(f"{path} cannot be read: {error.strerror}") from error


def require_containers(*, sandbox: bool) -> None:
    """Refuse a test in the sandbox.

    Raises:
        WrongUseError: the nodes run no containers.
    """
    if sandbox:
        raise failures.WrongUseError(
            "the sandbox runs no containers and no test; judge a log that exists with --log FILE"
        )


def planned_of(found: StackFile, *, nodes: int | None, given: Mapping[str, Any]) -> PlannedTest:
    """Return the test of a stack, with the options of its kind.

    Raises:
        WrongUseError: the stack has no such nodes, several that match, or too few.
    """
    plan: Any = plan_of(found)
    if found.architecture == NETWORK:
        raise failures.WrongUseError(f"{found.stack} is a network, and has no nodes")
    try:
        return planned_test(plan, nodes=nodes, options=given)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _threshold(found: StackFile, planned: PlannedTest, option: float | None) -> float | None:
    """Return the threshold of the option or, between nodes, of the stack file; None without one."""
    if option is not None or planned.nodes.count == 1:
        return option
    own = config_of(found).verification.minimum_bus_bandwidth_gb_per_second
    return own.get(planned.nodes.instance_type)


def _log_of(asked: RequestedJob, kind: str, tested: set[str]) -> str:
    """Run the test, and return its log.

    Args:
        asked: The test.
        kind: Kind of the stack.
        tested: Receives the names of the EKS nodes on which it has run.

    Raises:
        CommandError: the test did not run, or has no log.
    """
    shown: list[str] = []
    wait = replace(asked.wait or JobWait(), show=shown.append, ran_on=tested.update)
    unused = dict.fromkeys(("--scaling", "--output", "--force", "--env"))
    job = replace(asked, wait=wait, options={**unused, **asked.options})
    try:
        # Standard output has the result only.
        with redirect_stdout(sys.stderr):
            make_of_kind(job, kind)
    except failures.CommandError as error:
        if isinstance(error, failures.JobFailedError) and not shown:
            # The exit code of `verify` is not that of its job.
            raise failures.CommandError(str(error)) from error
        if not shown:
            raise
        console.problem(str(error))
    if not shown:
        raise failures.CommandError("the test has ended without a log that could be judged")
    return "".join(f"{text.rstrip()}\n" for text in shown)


def _tell(stack: str, verified: _Verified, *, as_json: bool) -> None:
    planned = verified.planned
    if as_json:
        found = report(stack, planned, verified.log, verified.stages, verified.pairs)
        console.answer_json(found)
        return
    nodes = planned.nodes
    count = "1 node" if nodes.count == 1 else f"{nodes.count} nodes"
    console.answer(f"{stack}: {planned.test} on {count} of {nodes.instance_type}")
    for stage in verified.stages:
        result = typer.style(f"{stage.result:<8}", fg=_COLORS[stage.result])
        typer.echo(f"  {result} {stage.name:<10} {stage.reason}")
