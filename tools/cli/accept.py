"""`accept`: deploys a stack, tests, changes, diagnoses and deletes it, and writes a report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from botocore.exceptions import BotoCoreError, ClientError

from components import clock
from components.config.network import NewVpc
from tools.acceptance.provenance import begin_run
from tools.acceptance.remains import Made, made_in, remains
from tools.acceptance.report import SANDBOX, as_html, as_json, compared_times, write_shapes
from tools.acceptance.report_check import Checked, checked_report
from tools.acceptance.run import Acceptance, InterruptedRunError, run_step
from tools.acceptance.steps import REMAINS, Done, Record, Step, read_record, steps_of
from tools.cli import console, failures, options
from tools.cli.accept_money import money_limit
from tools.cli.artifacts import opened_to_read
from tools.cli.sandbox_session import started_sandbox
from tools.cli.session import account_access
from tools.cli.stack_config import config_of, kind_of, plan_of
from tools.engine.slurm import slurm_is_packaged
from tools.jobs.nodes import JobError
from tools.verify.planned_nodes import planned_test
from tools.workspace.engine_process import EngineFailedError
from tools.workspace.exported_state import exported_state, resources_of
from tools.workspace.locks import StackLockedError
from tools.workspace.stack_files import NETWORK, PARALLELCLUSTER, StackFile
from tools.workspace.yaml_reader import read_yaml, write_yaml

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
        help="Check the report.json of an acceptance instead, with the files beside it.",
    ),
]
_PROGRAM = ("sh", "-c", 'echo "node $NODE_RANK of $NNODES"')
"""What runs on each node of Slurm in the sandbox."""


@dataclass(frozen=True, slots=True)
class AcceptedStack:
    """A stack of the user's account or of the sandbox, as an acceptance uses it."""

    stack_file: StackFile
    sandbox: bool

    def is_deployed(self) -> bool:
        """Return whether the stack has resources."""
        try:
            workspace = opened_to_read(self.stack_file, sandbox=self.sandbox)
            return workspace.exists() and bool(
                resources_of(exported_state(workspace.command, self.stack_file.stack))
            )
        except failures.NotDeployedError:
            return False

    def made(self) -> list[Made]:
        """Return the objects of AWS in the state; none if there is no state to read."""
        try:
            workspace = opened_to_read(self.stack_file, sandbox=self.sandbox)
            if not workspace.exists():
                return []
            return made_in(exported_state(workspace.command, self.stack_file.stack))
        except (failures.NotDeployedError, EngineFailedError, StackLockedError, OSError) as error:
            console.progress(f"the state could not be read: {error}")
            return []

    def remains(self, made: Iterable[Made]) -> list[str]:
        """Return what the account has of the cluster, and of what was in the state."""
        config: Any = config_of(self.stack_file)
        with account_access(sandbox=self.sandbox, profile=self.stack_file.profile):
            return remains(self.stack_file.region, config.name, made)

    def run(self, step: Step, directory: Path, ends: datetime | None) -> Done:
        """Run a step until a time of the account, with a log in the directory of the acceptance."""
        return run_step(step, ("--sandbox",) if self.sandbox else (), directory, ends)

    @property
    def settles(self) -> timedelta:
        """How long the account has to remove what it removes by itself; none in the sandbox."""
        return timedelta(0) if self.sandbox else _REMAINS_TIME

    def pause(self, seconds: float) -> None:
        """Wait before a deletion that failed is tried again."""
        time.sleep(seconds)


def accept(
    context: typer.Context,
    stack: _Stack = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory of the report. Default: ./<stack>-accept."),
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
    """Deploy a stack, test it, change it, diagnose it, and delete it again.

    The report compares what AWS did with what this program assumes. An interrupted acceptance goes
    on with the same command.
    """
    if check_report is not None:
        _check_report(check_report, stack, sandbox=sandbox)
        return
    if stack is None:
        raise failures.WrongUseError(
            "the name of a stack is missing: ./trainyard accept STACK, such as dev; "
            "`./trainyard list` lists them"
        )
    found = options.stack_file(stack, path=None, sandbox=sandbox)
    accepted: AcceptedStack = (context.obj or AcceptedStack)(found, sandbox)
    directory = (output or Path(f"{stack}-accept")).absolute()
    _refuse_protected(found)
    if sandbox:
        started_sandbox(console.progress)
    record = read_record(directory)
    if record is None:
        _refuse_deployed(accepted)
    money = None
    if max_usd is not None:
        money = money_limit(found, max_usd, limit_minutes, sandbox=sandbox, is_new=record is None)
    if record is None:
        _ask(found, limit_minutes, yes=yes, sandbox=sandbox)
        directory.mkdir(parents=True, exist_ok=True)
        began = clock.now().isoformat()
        record = Record(directory=directory, stack=stack, sandbox=sandbox, began=began)
        record.before = accepted.remains([])
        record.save()
    elif (record.stack, record.sandbox) != (stack, sandbox):
        raise failures.WrongUseError(f"{directory} is the acceptance of another stack")
    _run_all(record, accepted, _ends(record, limit_minutes, money))
    _look_for_remains(record, accepted)
    _report(record)


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


def _ask(stack_file: StackFile, limit_minutes: float, *, yes: bool, sandbox: bool) -> None:
    if yes or sandbox:
        return
    console.note(
        f"This deploys {stack_file.stack} in {stack_file.region}, for which AWS charges, and "
        f"deletes it again, after {limit_minutes:g} minutes at the latest."
    )
    if not typer.confirm("Continue?", default=False):
        raise failures.CancelledError("nothing was deployed")


def _ends(record: Record, limit_minutes: float, money: timedelta | None) -> datetime:
    """Return when the deletion begins at the latest.

    Both limits count from the first step, also while this program was not running: the stack
    costs money meanwhile.
    """
    limit = timedelta(minutes=limit_minutes)
    return datetime.fromisoformat(record.began) + (limit if money is None else min(limit, money))


def _run_all(record: Record, stack: AcceptedStack, ends: datetime) -> None:
    tagged = record.directory / "tagged.yaml"
    steps = steps_of(
        record.stack,
        test=_test(stack.stack_file, sandbox=record.sandbox),
        directory=record.directory,
        tagged=tagged,
    )
    begin_run(record.directory, stack.stack_file, steps)
    with suppress(OSError):  # without space for it, the step `change` says that it is missing
        _write_tagged(stack.stack_file, tagged)
    acceptance = Acceptance(
        record,
        run=lambda step, until: _run_step(record, stack, step, until),
        tell=console.progress,
        pause=stack.pause,
    )
    try:
        acceptance.finish(steps, ends)
    except (InterruptedRunError, KeyboardInterrupt) as error:
        raise failures.CancelledError(_interrupted(record)) from error


def _run_step(record: Record, stack: AcceptedStack, step: Step, ends: datetime | None) -> Done:
    if step.deletes:
        # What the deletion removes from the state is looked for in the account afterwards.
        record.remember(stack.made())
        with suppress(OSError):  # the deletion matters more
            record.save()
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


def _test(stack_file: StackFile, *, sandbox: bool) -> tuple[str, ...]:
    """Return the command that tests the nodes; empty if the stack has none that it could run on."""
    kind, stack = kind_of(stack_file), stack_file.stack
    if kind == NETWORK:
        return ()
    plan: Any = plan_of(stack_file)
    try:
        planned = planned_test(plan, nodes=None, options={})
    except JobError:
        return ()
    if not sandbox:
        return ("verify", stack)
    if kind == PARALLELCLUSTER:
        # Its Slurm runs programs, but has no accelerators that the job could test.
        return ("run", stack, "--launcher", "none", "--", *_PROGRAM) if slurm_is_packaged() else ()
    # The sandbox runs no containers: the job ends, and has no log.
    return ("job", stack, planned.test, "--submit", "--wait")


def _write_tagged(stack_file: StackFile, path: Path) -> None:
    content = read_yaml(stack_file.path)
    cluster = content["config"]["trainyard:cluster"]
    cluster["tags"] = {**(cluster.get("tags") or {}), "Acceptance": "changed"}
    write_yaml(path, content)


def _report(record: Record) -> None:
    up = record.directory / "up.log"
    said = up.read_text(encoding="utf-8", errors="replace") if up.is_file() else ""
    compared = [] if record.sandbox else compared_times(said)
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
    (record.directory / "report.json").write_text(as_json(record, compared), encoding="utf-8")
    page = record.directory / "report.html"
    page.write_text(as_html(record, compared), encoding="utf-8")
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
