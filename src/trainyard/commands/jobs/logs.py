"""`logs`: the log of a job, or the CloudWatch logs of a stack."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

import typer
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.account.call_failures import explained
from trainyard.deployment.stack_outputs import outputs_of
from trainyard.diagnosis.job_log import LogEnd
from trainyard.schedulers.deployed_stack import NO_JOBS, deployed_stack
from trainyard.schedulers.job_wait import refuse
from trainyard.schedulers.log_events import LogEvents
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.registry import scheduler_class
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.target import Target

POLL_SECONDS = 5.0
DEFAULT_MINUTES = 60.0


Job = Annotated[
    str | None,
    typer.Argument(help="Name or id of a job. Default: the CloudWatch logs of the stack."),
]
Node = Annotated[
    int | None,
    typer.Option(min=0, help="Number of a node of the job, from 0. Default: the first."),
]
Rank = Annotated[
    int | None, typer.Option(min=0, help="Number of a process of the job: the log of its node.")
]
EveryNode = Annotated[
    bool, typer.Option("--all", help="All nodes of the job; lines begin with the node.")
]
Previous = Annotated[
    bool, typer.Option("--previous", help="The run of the job before its last restart.")
]
Stream = Annotated[
    str | None,
    typer.Option(
        metavar="PREFIX",
        help="Without a job: only log streams whose names begin with this, such as a node.",
    ),
]
Minutes = Annotated[
    float | None, typer.Option(min=0, help="Without a job: age of the oldest line. Default: 60.")
]
Follow = Annotated[
    bool,
    typer.Option("--follow", "-f", help="Wait for new lines: until the job ends, or Ctrl-C."),
]


def logs(
    context: typer.Context,
    stack: options.Stack,
    job: Job = None,
    node: Node = None,
    rank: Rank = None,
    every_node: EveryNode = False,
    previous: Previous = False,
    stream: Stream = None,
    minutes: Minutes = None,
    follow: Follow = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Print the log of a job, or the CloudWatch logs of a stack.

    Without a job: the logs of the control plane, the Slurm nodes, or all Batch jobs.
    """
    of_job = {"--node": node, "--rank": rank, "--all": every_node or None}
    of_job["--previous"] = previous or None
    if job is None:
        refuse(of_job, "only a job has nodes; name the job, or")
        if sandbox:
            raise failures.WrongUseError(
                "the sandbox runs no control plane components, nodes or jobs that write to "
                "CloudWatch Logs; the logs of its own processes: `./trainyard sandbox status`"
            )
        _print_stack_logs(
            options.target(stack, path=stack_file, sandbox=False),
            stream=stream or "",
            minutes=DEFAULT_MINUTES if minutes is None else minutes,
            follow=follow,
        )
        return
    refuse({"--stream": stream, "--minutes": minutes}, "the whole log of a job is printed")
    if sum(each is not None for each in (node, rank, every_node or None)) > 1:
        raise failures.WrongUseError("give one of --node, --rank and --all")
    asked = LogRequest(
        job=job, node=node, rank=rank, every_node=every_node, previous=previous, follow=follow
    )
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, target)
    end = LogEnd()
    with deployed.scheduler(network=NO_JOBS).submitted() as submitted:
        for line in submitted.log(asked):
            end.add(line)
            console.answer(line)
    if error := end.error:
        console.progress(error.in_log)


def _print_stack_logs(target: Target, *, stream: str, minutes: float, follow: bool) -> None:
    group = _log_group(target)
    console.progress(f"log group {group} in {target.region}")
    start = clock.now().timestamp() - minutes * 60
    try:
        with target.access():
            client = target.client("logs")
            pause = time.sleep if follow else None
            for line in lines_of(client, group, stream, start_ms=int(start * 1000), pause=pause):
                console.answer(line)
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(_why(error, group, target.stack_file)) from error


def _log_group(target: Target) -> str:
    cluster = config_of(target.stack_file).name
    own = scheduler_class(target.stack_file)
    outputs = partial(outputs_of, target, show_secrets=False)
    group = "" if own is None else own(target).log_group(cluster, outputs)
    if group:
        return group
    raise failures.WrongUseError(f"{target.stack} sends no logs to CloudWatch Logs")


def lines_of(
    client: Any,
    group: str,
    prefix: str,
    *,
    start_ms: int,
    pause: Callable[[float], object] | None = None,
) -> Iterator[str]:
    """Yield the events of a log group as lines with time and stream, oldest first.

    Args:
        client: A boto3 client of CloudWatch Logs.
        group: Name of the log group.
        prefix: Beginning of the names of the log streams; empty for all.
        start_ms: Time of the oldest event, in milliseconds since 1970.
        pause: Waits a number of seconds between two queries; None ends after the first.
    """
    narrowed = {"logStreamNamePrefix": prefix} if prefix else {}
    events = LogEvents(client=client, group=group, narrowed=narrowed, start_ms=start_ms)
    while True:
        yield from map(_line, events.new())
        if pause is None:
            return
        pause(POLL_SECONDS)


def _line(event: Mapping[str, Any]) -> str:
    at = datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%SZ} {event['logStreamName']} {event['message'].rstrip()}"


def _why(error: BotoCoreError | ClientError, group: str, file: StackFile) -> str:
    missing = isinstance(error, ClientError) and (
        error.response["Error"]["Code"] == "ResourceNotFoundException"
    )
    if not missing:
        return explained("logs:FilterLogEvents", error)
    own = scheduler_class(file)
    hint = own.log_group_hint if own else ""
    return f"{file.region} has no log group {group}: nothing has written to it yet{hint}"
