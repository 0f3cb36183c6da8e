"""`verify`: judges the nodes, the network and the accelerators of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.catalog.collective_tests import GBIT_PER_GBYTE, bandwidth_ceiling
from trainyard.components.plain_text import legible
from trainyard.components.typed_command import as_typed
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.job_wait import RequestedJob, requested_wait
from trainyard.schedulers.registry import own_options, scheduler_class
from trainyard.schedulers.scheduler import Scheduler, refusals
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.report import html_report, junit, report
from trainyard.verify.verification import Verified, Wanted, verification

_COLORS = {"pass": "green", "fail": "red", "skipped": "yellow"}


Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=options.input_file,
        help="Judge this log of nccl-tests or nccom-tests; run no test.",
    ),
]
Nodes = Annotated[int | None, typer.Option(min=1, help="Number of nodes. Default: as for `job`.")]
MinimumBandwidth = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="GB/S",
        help="Lowest bus bandwidth of the largest message. Default: the threshold of the stack "
        "file, or the published one of the instance type, if there is one.",
    ),
]
Pairs = Annotated[
    bool | None,
    typer.Option(
        "--pairs/--no-pairs",
        help="Also test pairs of nodes. Default: if the test of more than two nodes fails. "
        "EKS and Slurm.",
    ),
]
Dcgm = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4,
        metavar="LEVEL",
        help="Also run NVIDIA's diagnostics of GPUs: 1 takes seconds, 2 minutes, 3 a quarter "
        "of an hour, 4 up to two hours. EKS and Slurm.",
    ),
]
OnlyInventory = Annotated[
    bool,
    typer.Option(
        "--inventory", help="Only compare nodes, devices and versions with the plan; no test."
    ),
]
Drain = Annotated[bool, typer.Option("--drain", help="Slurm: drain the nodes that fail.")]
JunitFile = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        parser=options.output_file,
        help="Also write the stages to this file, for CI.",
    ),
]
HtmlFile = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        parser=options.output_file,
        help="Also write a report to this file, with curve and nodes.",
    ),
]


def verify(
    context: typer.Context,
    stack: options.Stack,
    log: Log = None,
    nodes: Nodes = None,
    group: options.Group = None,
    namespace: options.Namespace = None,
    queue: options.Queue = None,
    compute_resource: options.ComputeResource = None,
    definition: options.Definition = None,
    minimum_bandwidth: MinimumBandwidth = None,
    pairs: Pairs = None,
    dcgm: Dcgm = None,
    inventory: OnlyInventory = False,
    drain: Drain = False,
    junit_file: JunitFile = None,
    html_file: HtmlFile = None,
    wait_minutes: options.WaitMinutes = None,
    as_json: options.AsJson = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Test nodes and accelerators, and fail if the cluster is not as planned.

    Compares the nodes with the plan, and runs the job nccl-tests or nccom-tests on them. Nodes of
    EKS are labelled with the result.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    given = {
        "--group": group,
        "--namespace": namespace,
        "--queue": queue,
        "--compute-resource": compute_resource,
        "--definition": definition,
    }
    own = scheduler_class(target.stack_file)
    own_given = own_options(given, own, stack)
    wanted = Wanted(
        log=log,
        only_inventory=inventory,
        pairs=pairs,
        dcgm=dcgm,
        minimum_gb_per_second=minimum_bandwidth,
    )
    can_drain = wanted.runs_jobs and own is not None and own.drains_nodes
    _refuse_combinations(wanted, drain=drain, can_drain=can_drain)
    verify_nodes(
        deployed_stack(context, target).scheduler(),
        wanted,
        nodes=nodes,
        given=own_given,
        wait_minutes=wait_minutes,
        drain=drain,
        files=ReportFiles(junit=junit_file, html=html_file),
        as_json=as_json,
    )


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files to write a result to; None for none."""

    junit: Path | None = None
    html: Path | None = None

    def write(self, result: Verified) -> None:
        """Write them."""
        if self.junit is not None:
            write_whole(self.junit, junit(result.stack, result.stages))
        if self.html is not None:
            write_whole(self.html, html_report(result, at=f"{clock.now():%Y-%m-%d %H:%M} UTC"))


def verify_nodes(
    scheduler: Scheduler[Any],
    wanted: Wanted,
    *,
    nodes: int | None,
    given: Mapping[str, Any],
    wait_minutes: float | None = None,
    drain: bool = False,
    files: ReportFiles = ReportFiles(),
    as_json: bool = False,
) -> None:
    """Verify the nodes of a pool, and print the result.

    Args:
        scheduler: The scheduler of the stack.
        wanted: What to verify.
        nodes: Number of nodes; None for the default of the pool.
        given: Values of the scheduler's options, which select the pool.
        wait_minutes: Time that the test can wait for its nodes; None for the default.
        drain: Slurm: whether to drain the nodes that fail.
        files: Where else to write the result.
        as_json: Whether to print it as JSON.

    Raises:
        typer.Exit: a stage failed.
        WrongUseError: the nodes cannot run the tests, or there are no credentials.
        CommandError: the stack has no cluster, or the test has no log.
    """
    target = scheduler.target
    with refusals():
        planned = scheduler.planned_test(nodes=nodes, options=given)
    wanted = _for_planned(wanted, planned, scheduler)
    asked = RequestedJob(
        name=planned.test,
        nodes=nodes,
        options={**given, "--level": wanted.dcgm},
        submit=True,
        wait=requested_wait(target.account, submit=True, wait=True, minutes=wait_minutes),
    )
    result = verification(scheduler, asked, planned, wanted)
    files.write(result)
    _tell(result, as_json=as_json)
    if wanted.runs_jobs and result.has_test:
        scheduler.use_results(result, drain=drain)
    if not result.passed:
        raise typer.Exit(failures.WORK_FAILED)


def _for_planned(wanted: Wanted, planned: PlannedTest[Any], scheduler: Scheduler[Any]) -> Wanted:
    """Return what is wanted of a planned test, with the threshold of the stack file.

    Raises:
        WrongUseError: the cluster cannot run it.
    """
    if wanted.runs_jobs and scheduler.target.is_sandbox:
        scheduler.refuse_without_accelerators(planned.test)
    _refuse_jobs(wanted, planned, has_chosen_nodes=scheduler.tests_chosen_nodes)
    if wanted.minimum_gb_per_second is not None:
        _refuse_impossible(wanted.minimum_gb_per_second, planned)
        return wanted
    own = _own_threshold(scheduler.target.stack_file, planned)
    return replace(wanted, minimum_gb_per_second=own)


def _refuse_impossible(gb_per_second: float, planned: PlannedTest[Any]) -> None:
    """Refuse a threshold that the nodes cannot reach.

    Raises:
        WrongUseError: always then.
    """
    nodes = planned.nodes
    ceiling = bandwidth_ceiling(nodes.instance_type, nodes=nodes.count)
    if ceiling is not None and gb_per_second > ceiling.gb_per_second:
        raise failures.WrongUseError(
            f"--minimum-bandwidth {gb_per_second:g} GB/s is more than the nodes can reach, "
            f"{ceiling.gb_per_second:g} GB/s: {ceiling.why}; {gb_per_second:g} Gbit/s are "
            f"--minimum-bandwidth {gb_per_second / GBIT_PER_GBYTE:g}"
        )


def _refuse_combinations(wanted: Wanted, *, drain: bool, can_drain: bool) -> None:
    """Refuse options that contradict each other.

    Raises:
        WrongUseError: always then.
    """
    given = {"--log": wanted.log, "--pairs": wanted.pairs, "--dcgm": wanted.dcgm}
    others = " and ".join(option for option, value in given.items() if value)
    if wanted.only_inventory and others:
        raise failures.WrongUseError(f"--inventory runs and judges no test: omit {others}")
    if wanted.log and wanted.dcgm:
        raise failures.WrongUseError("--dcgm runs the diagnostics: omit --log")
    if drain and not can_drain:
        raise failures.WrongUseError("--drain needs a test that `verify` runs on a Slurm cluster")


def _refuse_jobs(wanted: Wanted, planned: PlannedTest[Any], *, has_chosen_nodes: bool) -> None:
    """Refuse jobs that the nodes cannot run.

    Raises:
        WrongUseError: always then.
    """
    if wanted.pairs and (wanted.log or planned.nodes.count < 2 or not has_chosen_nodes):
        raise failures.WrongUseError(
            "--pairs runs a test on at least two nodes of an EKS or Slurm stack"
        )
    if wanted.dcgm and not (has_chosen_nodes and planned.test == "nccl-tests"):
        raise failures.WrongUseError("--dcgm is for NVIDIA GPUs of an EKS or Slurm stack")


def _own_threshold(found: StackFile, planned: PlannedTest) -> float | None:
    """Return the threshold of the stack file for traffic between nodes; None without one."""
    if planned.nodes.count == 1:
        return None
    own = config_of(found).verification.minimum_bus_bandwidth_gb_per_second
    return own.get(planned.nodes.instance_type)


def _tell(result: Verified, *, as_json: bool) -> None:
    if as_json:
        console.answer_json(report(result))
        return
    nodes = result.planned.nodes
    count = "1 node" if nodes.count == 1 else f"{nodes.count} nodes"
    console.answer(f"{result.stack}: {result.planned.test} on {count} of {nodes.instance_type}")
    for stage in result.stages:
        told = typer.style(f"{stage.result:<8}", fg=_COLORS[stage.result])
        typer.echo(f"  {told} {stage.name:<10} {legible(as_typed(stage.reason))}")
