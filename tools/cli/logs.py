"""`logs`: the CloudWatch logs of a stack."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from components import clock
from components.account.call_failures import CLIENT, explained
from tools.cli import console, failures, options
from tools.cli.artifacts import outputs_of
from tools.cli.batch_submission import LOG_GROUP as BATCH_LOG_GROUP
from tools.cli.session import account_access
from tools.cli.stack_config import config_of
from tools.workspace.stack_files import BATCH, EKS, PARALLELCLUSTER, StackFile

POLL_SECONDS = 5.0
DEFAULT_MINUTES = 60.0


def logs(
    stack: options.Stack,
    stream: Annotated[
        str,
        typer.Option(
            metavar="PREFIX", help="Only log streams whose names begin with this, such as a node."
        ),
    ] = "",
    minutes: Annotated[
        float, typer.Option(min=0, help="Age of the oldest line.")
    ] = DEFAULT_MINUTES,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new lines until Ctrl-C.")
    ] = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Print the CloudWatch logs of a stack: control plane, Slurm nodes, or Batch jobs."""
    if sandbox:
        raise failures.WrongUseError(
            "the sandbox runs no control plane components, nodes or jobs that write to CloudWatch "
            "Logs; the logs of its own processes: `./trainyard sandbox status`"
        )
    found = options.stack_file(stack, path=stack_file, sandbox=False)
    group = _log_group(found)
    console.progress(f"log group {group} in {found.region}")
    start = clock.now().timestamp() - minutes * 60
    try:
        with account_access(sandbox=False, profile=found.profile):
            client = boto3.client("logs", region_name=found.region, config=CLIENT)
            pause = time.sleep if follow else None
            for line in lines_of(client, group, stream, start_ms=int(start * 1000), pause=pause):
                console.answer(line)
    except (BotoCoreError, ClientError) as error:
        raise failures.CommandError(_why(error, group, found)) from error


def _log_group(file: StackFile) -> str:
    config = config_of(file)
    outputs = (
        outputs_of(file, sandbox=False, show_secrets=False)
        if file.architecture == PARALLELCLUSTER
        else {}
    )
    group = log_group(file.architecture, cluster=config.name, outputs=outputs)
    if group:
        return group
    raise failures.WrongUseError(f"{file.stack} sends no logs to CloudWatch Logs")


def log_group(architecture: str, *, cluster: str, outputs: Mapping[str, Any]) -> str:
    """Return the log group of a stack; empty if it has none.

    Sources: https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html and
    https://docs.aws.amazon.com/batch/latest/userguide/using_awslogs.html; ParallelCluster chooses
    the name of its group, which is an output of the stack.
    """
    groups = {
        EKS: f"/aws/eks/{cluster}/cluster",
        BATCH: BATCH_LOG_GROUP,
        PARALLELCLUSTER: str(outputs.get("log_group") or ""),
    }
    return groups.get(architecture, "")


def lines_of(
    client: Any,
    group: str,
    prefix: str,
    *,
    start_ms: int,
    pause: Callable[[float], object] | None = None,
) -> Iterator[str]:
    """Yield the events of a log group as lines with time and stream, oldest first.

    Events can arrive late, so every query begins at the newest known time, and events that were
    already returned are skipped.

    Args:
        client: A boto3 client of CloudWatch Logs.
        group: Name of the log group.
        prefix: Beginning of the names of the log streams; empty for all.
        start_ms: Time of the oldest event, in milliseconds since 1970.
        pause: Waits a number of seconds between two queries; None ends after the first.
    """
    narrowed = {"logStreamNamePrefix": prefix} if prefix else {}
    paginator, told = client.get_paginator("filter_log_events"), set[str]()
    while True:
        newest, seen = start_ms, set[str]()
        for page in paginator.paginate(logGroupName=group, startTime=start_ms, **narrowed):
            for event in page["events"]:
                seen.add(event["eventId"])
                newest = max(newest, event["timestamp"])
                if event["eventId"] not in told:
                    yield _line(event)
        if pause is None:
            return
        start_ms, told = newest, told | seen
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
    hint = (
        "; choose the logs of its control plane in `architecture.log_types`"
        if file.architecture == EKS
        else ""
    )
    return f"{file.region} has no log group {group}: nothing has written to it yet{hint}"
