"""`accept`: deploys a stack, tests, changes, diagnoses and deletes it, and writes a report."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.acceptance.answers import called_in
from trainyard.acceptance.assumptions import Outcome, verdicts
from trainyard.acceptance.plan import Accepted, steps_of
from trainyard.acceptance.provenance import begin_run
from trainyard.acceptance.remains import MadeObject, made_in, remains
from trainyard.acceptance.report import (
    CHANGED_FILE,
    OWN_FILE,
    SANDBOX,
    SHAPES,
    as_html,
    as_json,
    compared_times,
    report_of,
    write_shapes,
)
from trainyard.acceptance.report_check import Checked, checked_report
from trainyard.acceptance.run import Acceptance, InterruptedRunError, run_step
from trainyard.acceptance.stack_files import FILE_SYSTEM, accepted_content, changed_content
from trainyard.acceptance.steps import (
    NODE,
    REMAINS,
    Done,
    Record,
    Step,
    judged,
    log_of,
    read_record,
)
from trainyard.acceptance.training import Training, training_of
from trainyard.capacity.wording import money
from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.account.call_failures import explained
from trainyard.components.capacity.timeline import block_timelines
from trainyard.components.catalog.collective_tests import MAKERS
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import ConfigError
from trainyard.cost.accept_money import money_limit
from trainyard.cost.price_list import current_cost
from trainyard.deployment.stack_outputs import opened_to_read
from trainyard.engine.engine_process import EngineFailedError
from trainyard.jobs.nodes import JobError
from trainyard.sandboxes.client import slurm_is_packaged
from trainyard.sandboxes.faults import use_schedule
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.schedulers.scheduler import Scheduler
from trainyard.stack_files.files import file_text, write_whole
from trainyard.stack_files.stack_config import config_of, kind_of, plan_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.yaml_reader import write_yaml
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.workspace.exported_state import exported_state, resources_of
from trainyard.workspace.locks import StackLockedError
from trainyard.workspace.target import Target

_DEFAULT_MINUTES = 180.0
_REMAINS_TIME = timedelta(minutes=10)
"""How long AWS has to remove what it removes by itself after a deletion."""
_LOOK_SECONDS = 30.0
_Stack = Annotated[
    str | None,
    typer.Argument(help="Name of the stack, such as dev.", autocompletion=options.complete_stack),
]
_CheckReport = Annotated[
    Path | None,
    typer.Option(
        "--check-report",
        metavar="FILE",
        parser=options.input_file,
        help="Check the report.json of an acceptance instead, with the files beside it.",
    ),
]
_FIGURES = ("GPU utilization", "NeuronCore utilization", "Memory of nodes")
"""Figures of nodes, of which a stack that measures its nodes has at least one."""
_PROGRAM = ("sh", "-c", 'echo "node $NODE_RANK of $NNODES"')
"""What runs on each node of Slurm in the sandbox."""


@dataclass(frozen=True, slots=True)
class AcceptedStack:
    """A stack of the user's account or of the sandbox, as an acceptance uses it."""

    target: Target

    @property
    def stack_file(self) -> StackFile:
        """The file of the stack."""
        return self.target.stack_file

    def is_deployed(self) -> bool:
        """Return whether the stack has resources."""
        try:
            workspace = opened_to_read(self.target)
            return workspace.exists() and bool(
                resources_of(exported_state(workspace.command, self.stack_file.stack))
            )
        except failures.NotDeployedError:
            return False

    def made(self) -> list[MadeObject]:
        """Return the objects of AWS in the state; none if there is no state to read."""
        try:
            workspace = opened_to_read(self.target)
            if not workspace.exists():
                return []
            return made_in(exported_state(workspace.command, self.stack_file.stack))
        except (failures.NotDeployedError, EngineFailedError, StackLockedError, OSError) as error:
            console.progress(f"the state could not be read: {error}")
            return []

    def remains(self, made: Iterable[MadeObject]) -> list[str]:
        """Return what the account has of the cluster, and of what was in the state."""
        config: Any = config_of(self.stack_file)
        with self.target.access():
            settings = self.target.account.settings
            return remains(self.stack_file.region, config.name, made, settings)

    def node(self) -> str:
        """Return the name of a node that the test runs on.

        Raises:
            CommandError: the nodes cannot be read, or there is none.
        """
        scheduler = scheduler_of(self.target)
        return scheduler.node_of(scheduler.planned_test(nodes=None, options={}))

    def play(self, schedule: Path | None) -> None:
        """Let the jobs of a step print recorded logs, in a sandbox, which runs no containers."""
        if schedule is not None:
            use_schedule(schedule, add=True)

    def run(self, step: Step, directory: Path, ends: datetime | None) -> Done:
        """Run a step until a time of the account, with a log in the directory of the acceptance."""
        return run_step(step, self.target.account.option.split(), directory, ends)

    @property
    def settles(self) -> timedelta:
        """How long the account has to remove what it removes by itself; none in the sandbox."""
        return timedelta(0) if self.target.is_sandbox else _REMAINS_TIME

    def pause(self, seconds: float) -> None:
        """Wait before a deletion that failed is tried again; a sandbox does not need it."""
        if not self.target.is_sandbox:
            time.sleep(seconds)


def accept(
    context: typer.Context,
    stack: _Stack = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            parser=options.output_directory,
            help="Directory of the report. Default: ./<stack>-accept.",
        ),
    ] = None,
    limit_minutes: Annotated[
        float, typer.Option(min=1, help="Time after which what was made is deleted.")
    ] = _DEFAULT_MINUTES,
    max_usd: Annotated[
        float | None,
        typer.Option(min=0.01, help="Most USD, at list prices; then what was made is deleted."),
    ] = None,
    yes: options.Yes = False,
    sandbox: options.Sandbox = False,
    check_report: _CheckReport = None,
) -> None:
    """Deploy a stack, test it, train on it, repair and change it, and delete it again.

    It adds a file system and the metrics of nodes to a stack without. The report compares what AWS
    did with what this program assumes. An interrupted acceptance goes on with the same command.
    """
    if check_report is not None:
        _check_report(check_report, stack, sandbox=sandbox)
        return
    if stack is None:
        raise failures.WrongUseError(
            "the name of a stack is missing: ./trainyard accept STACK, such as dev; "
            "`./trainyard list` lists them"
        )
    directory = (output or Path(f"{stack}-accept")).absolute()
    record = read_record(directory)
    if record is not None and (record.stack, record.sandbox) != (stack, sandbox):
        raise failures.WrongUseError(f"{directory} is the acceptance of another stack")
    own = _own_target(stack, None if record is None else directory / OWN_FILE, sandbox=sandbox)
    own.account.start(console.progress)
    accepted: AcceptedStack = (context.obj or AcceptedStack)(own)
    if record is None:
        _refuse_deployed(accepted)
    subject = _subject(own, directory)
    lasts = None
    if max_usd is not None:
        lasts = money_limit(own, max_usd, limit_minutes, is_new=record is None)
    if record is None:
        _ask(own, subject, limit_minutes, yes=yes)
        _write_files(own.stack_file, subject)
        began = clock.now().isoformat()
        record = Record(directory=directory, stack=stack, sandbox=sandbox, began=began)
        record.before = _before(accepted)
        record.save()
    _run_all(record, accepted, subject, _ends(record, limit_minutes, lasts))
    _look_for_remains(record, accepted)
    _report(record, kind_of(own.stack_file))


def _before(accepted: AcceptedStack) -> list[str]:
    """Return what the account has of the cluster before the first step.

    Raises:
        CommandError: it does not say it.
    """
    try:
        return accepted.remains([])
    except (BotoCoreError, ClientError) as error:
        call = error.operation_name if isinstance(error, ClientError) else "tag:GetResources"
        said = explained(call, error)
        raise failures.CommandError(f"{said}; nothing was deployed") from error


def _own_target(stack: str, begun: Path | None, *, sandbox: bool) -> Target:
    """Return the stack of the acceptance, with its own file.

    A stack that cannot have what the acceptance adds is accepted as it is.

    Args:
        stack: Name of the stack.
        begun: The file of an acceptance that goes on, whatever that of the user is now.
        sandbox: Whether the account is the sandbox's.

    Raises:
        WrongUseError: the stack has protected objects.
    """
    if begun is not None and begun.is_file():
        return options.target(stack, path=begun, sandbox=sandbox)
    target = options.target(stack, path=None, sandbox=sandbox)
    found = target.stack_file
    _refuse_protected(found)
    scheduler = scheduler_class(found)
    own = dataclasses.replace(found, content=accepted_content(found.content, scheduler))
    try:
        if scheduler is not None:
            plan_of(own)
    except ConfigError as error:
        console.progress(f"no file system and no metrics are added to {target.stack}: {error}")
        return target
    return dataclasses.replace(target, stack_file=own)


def _subject(target: Target, directory: Path) -> Accepted:
    """Return what the steps of a stack depend on."""
    own = scheduler_class(target.stack_file)
    _, changes = changed_content(target.stack_file.content, own)
    accepted = Accepted(
        stack=target.stack,
        scheduler=own,
        file=directory / OWN_FILE,
        changed=directory / CHANGED_FILE,
        changes=changes,
        directory=directory,
        has_block=bool(block_timelines(config_of(target.stack_file))),
    )
    if own is None:
        return accepted
    storage = target.stack_file.cluster.get("storage") or {}
    scheduler = own(target)
    tested = _tested(scheduler)
    return dataclasses.replace(
        accepted,
        test=_test(tested, scheduler),
        training=_training(tested, scheduler, directory),
        figure="" if target.is_sandbox or tested is None else _figure(scheduler.plan),
        creates_lustre=any(each.get("kind") == "fsx-lustre" for each in storage.values()),
    )


def _tested(scheduler: Scheduler[Any]) -> PlannedTest[Any] | None:
    """Return the test of the nodes; None if the stack has none that it could run on."""
    try:
        return scheduler.planned_test(nodes=None, options={})
    except JobError:
        return None


def _training(
    tested: PlannedTest[Any] | None, scheduler: Scheduler[Any], directory: Path
) -> Training | None:
    """Return what the nodes of a stack train; None if it has none."""
    if tested is None:
        return None
    return training_of(
        type(scheduler),
        nvidia=MAKERS[tested.test] == "nvidia",
        storage=scheduler.shared_directory(),
        directory=directory / "training",
    )


def _figure(plan: Any) -> str:
    """Return the title of a figure of the nodes in CloudWatch; empty if they send none."""
    monitoring = plan.monitoring_plan
    titles = [each.title for each in monitoring.graphs] if monitoring else []
    return next((each for each in _FIGURES if each in titles), "")


def _write_files(own: StackFile, subject: Accepted) -> None:
    """Write the files of the steps, into the directory of the acceptance.

    Raises:
        CommandError: they cannot be written; nothing was deployed.
    """
    changed, _ = changed_content(own.content, subject.scheduler)
    try:
        subject.directory.mkdir(parents=True, exist_ok=True)
        for path, content in ((subject.file, own.content), (subject.changed, changed)):
            write_yaml(path, content)
        if subject.training is not None:
            subject.training.write()
    except OSError as error:
        raise failures.CommandError(
            f"the files of the acceptance cannot be written to {subject.directory}: "
            f"{error.strerror}; make room, or name another directory with --output"
        ) from error


def _refuse_protected(stack_file: StackFile) -> None:
    """Refuse a stack that would not be deleted completely.

    Raises:
        WrongUseError: it has protected objects.
    """
    config: Any = config_of(stack_file)
    if isinstance(config.network, NewVpc) and config.network.adopt:
        raise failures.WrongUseError(
            f"{stack_file.stack} adopts a VPC, which `destroy` keeps in the stack: accept a stack "
            "without network.adopt, such as dev"
        )
    protected = [*_protected(config.model_dump(), "")]
    if protected:
        raise failures.WrongUseError(
            f"{stack_file.stack} has objects that `destroy` keeps: set {' and '.join(protected)} "
            "to false, or accept another stack, such as dev"
        )


def _refuse_deployed(stack: AcceptedStack) -> None:
    """Refuse a stack that an acceptance would delete.

    Raises:
        WrongUseError: it is deployed.
    """
    if stack.is_deployed():
        raise failures.WrongUseError(
            f"{stack.stack_file.stack} is deployed, and an acceptance ends with its deletion; "
            "accept a stack that is not deployed"
        )


def _protected(value: Any, path: str) -> Iterator[str]:
    # A reservation that the stack does not create has no protection to remove.
    if isinstance(value, Mapping) and value.get("create", True):
        for key, inner in value.items():
            if key == "deletion_protection" and inner is True:
                yield f"{path}{key}"
            yield from _protected(inner, f"{path}{key}.")


def _ask(target: Target, subject: Accepted, limit_minutes: float, *, yes: bool) -> None:
    """Say what the acceptance proves, costs and takes, and ask whether to begin.

    Raises:
        CancelledError: the answer is no.
    """
    for line in _announced(target, subject):
        console.note(line)
    if yes or target.is_sandbox:
        return
    console.note(
        f"This deploys {target.stack} in {target.region}, for which AWS charges, and deletes it "
        f"again, after {limit_minutes:g} minutes at the latest."
    )
    if not typer.confirm("Continue?", default=False):
        raise failures.CancelledError("nothing was deployed")


def _announced(target: Target, subject: Accepted) -> Iterator[str]:
    steps = steps_of(subject)
    hourly = current_cost(target).estimate.stack_hourly_usd
    yield f"The acceptance of {target.stack}, with about the time and the cost of each step on AWS:"
    for each in steps:
        cost = money(hourly * each.minutes / 60, "USD")
        yield f"  {each.name:<10} {each.minutes:>4.0f} min {cost:>10}  {each.proves}"
    minutes = sum(each.minutes for each in steps)
    cost = money(hourly * minutes / 60, "USD")
    yield f"  {'together':<10} {minutes:>4.0f} min {cost:>10}  at {money(hourly, 'USD')} an hour"
    if FILE_SYSTEM in (target.stack_file.cluster.get("storage") or {}):
        yield (
            "  The file system of the checkpoints is made for the acceptance: FSx for Lustre, 1200 "
            "GiB; it is deleted at the end."
        )


def _ends(record: Record, limit_minutes: float, lasts: timedelta | None) -> datetime:
    """Return when the deletion begins at the latest.

    Both limits count from the first step, also while this program was not running: the stack
    costs money meanwhile.
    """
    limit = timedelta(minutes=limit_minutes)
    return datetime.fromisoformat(record.began) + (limit if lasts is None else min(limit, lasts))


def _run_all(record: Record, stack: AcceptedStack, subject: Accepted, ends: datetime) -> None:
    steps = steps_of(subject)
    begin_run(record.directory, dataclasses.replace(stack.stack_file, path=subject.file), steps)
    acceptance = Acceptance(
        record,
        run=lambda step, until: _run_step(record, stack, subject, step, until),
        tell=console.progress,
        pause=stack.pause,
    )
    try:
        acceptance.finish(steps, ends)
    except (InterruptedRunError, KeyboardInterrupt) as error:
        raise failures.CancelledError(_interrupted(record)) from error


def _run_step(
    record: Record,
    stack: AcceptedStack,
    subject: Accepted,
    step: Step,
    ends: datetime | None,
) -> Done:
    if step.deletes:
        # What the deletion removes from the state is looked for in the account afterwards.
        record.remember(stack.made())
        with suppress(OSError):  # the deletion matters more
            record.save()
    if stack.target.is_sandbox and subject.training is not None:
        stack.play(subject.training.recording(step.name))
    if NODE in step.arguments:
        try:
            node = stack.node()
        except failures.CommandError as error:
            return judged(step, 1, f"error: {error}", 0.0)
        named = tuple(node if each == NODE else each for each in step.arguments)
        step = dataclasses.replace(step, arguments=named)
    return stack.run(step, record.directory, ends)


def _look_for_remains(record: Record, stack: AcceptedStack) -> None:
    """Record whether the account has what it had before, and nothing else of the cluster.

    AWS removes some objects a while after the deletion, such as network interfaces.
    """
    began = clock.now()
    try:
        record.after = stack.remains(record.made)
        while record.left_behind and clock.now() - began < stack.settles:
            console.progress(f"{len(record.left_behind)} objects are still there")
            stack.pause(_LOOK_SECONDS)
            record.after = stack.remains(record.made)
    except (BotoCoreError, ClientError) as error:
        result, reason = "stopped", f"the account did not say what is left: {error}"
    else:
        left = len(record.left_behind)
        result, reason = ("fail", f"{left} objects are left behind") if left else ("pass", "")
    seconds = round((clock.now() - began).total_seconds(), 1)
    with suppress(OSError):  # the next run looks again
        done = Done(name=REMAINS, result=result, seconds=seconds, reason=reason)
        record.add(done.timed(began))


def _interrupted(record: Record) -> str:
    if record.is_deleted:
        return "run the same command again for the report"
    return (
        f"{record.stack} may exist, and AWS charges for it; run the same command again: it goes "
        "on, and deletes the stack at its end"
    )


def _test(tested: PlannedTest[Any] | None, scheduler: Scheduler[Any]) -> tuple[str, ...]:
    """Return the command that tests the nodes; empty if there is none."""
    if tested is None:
        return ()
    if not scheduler.target.is_sandbox:
        return ("verify",)
    if scheduler.runs_programs_in_sandbox:
        # It has no accelerators that the job could test.
        return ("run", "--launcher", "none", "--", *_PROGRAM) if slurm_is_packaged() else ()
    # The sandbox runs no containers: the job ends, and has no log.
    return ("job", tested.test, "--submit", "--wait")


def _text(path: Path) -> str:
    """Return the text of a log; empty if there is none."""
    return file_text(path, errors="replace") if path.is_file() else ""


def _report(record: Record, kind: str) -> None:
    logs = {each.name: _text(record.directory / log_of(each.name)) for each in record.done}
    logs[REMAINS] = "\n".join(record.left_behind)
    compared = [] if record.sandbox else compared_times(logs.get("up", ""))
    minutes = (clock.now() - datetime.fromisoformat(record.began)).total_seconds() / 60
    result = "accepted" if record.passed else "not accepted"
    console.answer(f"{record.stack}: {result} after {minutes:.0f} minutes")
    for each in record.failed:
        console.answer(f"  {each.result}: {each.name}: {each.reason}")
    for each in record.left_behind:
        console.answer(f"  left behind: {each}")
    if record.has_begun and not record.is_deleted:
        console.answer(
            f"  {record.stack} may exist, and AWS charges for it: run the same command again, "
            "which deletes it"
        )
    write_shapes(record)
    called = called_in(record.directory / SHAPES)
    found = verdicts(kind, record.done, logs, sandbox=record.sandbox, called=called)
    about = [dataclasses.asdict(each) for each in found]
    if not record.sandbox:
        counts = Counter(each.verdict for each in found)
        seen = ", ".join(f"{counts[each]} {each}" for each in get_args(Outcome))
        console.answer(f"  assumptions about AWS: {seen}")
    report = report_of(record, compared, about)
    write_whole(record.directory / "report.json", as_json(report))
    page = record.directory / "report.html"
    write_whole(page, as_html(report))
    console.progress(f"report: {page}")
    if not record.passed:
        raise typer.Exit(failures.WORK_FAILED)


def _check_report(path: Path, stack: str | None, *, sandbox: bool) -> None:
    """Say what is wrong with a report; end with an error unless it proves an acceptance."""
    if stack is not None:
        raise failures.WrongUseError(
            f"--check-report checks a report, and accepts no stack; leave out {stack}"
        )
    found = checked_report(path)
    for kind, lines in (
        ("wrong", found.problems),
        ("not checked", found.not_checked),
        ("note", found.notes),
    ):
        for each in lines:
            console.answer(f"{kind}: {each}")
    verdict, proves = _verdict_on(found, sandbox=sandbox)
    console.answer(verdict)
    if not proves:
        raise typer.Exit(failures.WORK_FAILED)


def _verdict_on(found: Checked, *, sandbox: bool) -> tuple[str, bool]:
    if not found.account:
        return "this is no report of an acceptance that can be checked", False
    is_sandbox = found.account == SANDBOX
    where = "the sandbox, which is emulated: it proves nothing about AWS" if is_sandbox else "AWS"
    said = "accepted" if found.passed else "not accepted"
    about = f"a report of {found.stack} on {where}: {said}"
    if not found.holds:
        return f"{about}, but the report does not prove it", False
    if is_sandbox != sandbox:
        other = "with --sandbox" if is_sandbox else "without --sandbox"
        return f"{about}; check it {other}", False
    return about, found.passed
