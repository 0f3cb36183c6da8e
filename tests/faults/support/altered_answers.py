"""Recorded answers of an account to a stack's API calls, each altered in one place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.support.sandbox_aws import use_account
from trainyard.sandbox.aws.server import AwsServer  # before boto3 makes a client

import boto3  # isort: skip
import pytest  # isort: skip
from botocore.client import BaseClient  # isort: skip
from botocore.exceptions import ClientError  # isort: skip

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.components.architectures.preflight import Preflight, run_preflight  # isort: skip
from trainyard.stack_files.stack_config import config_of  # isort: skip
from trainyard.stack_files.completion import completed, sandbox_completion

from trainyard.stack_files.stack_files import find_stack_file  # isort: skip

FIXED_TOKENS = ("NextToken", "nextToken", "Marker")
ODD: tuple[Any, ...] = (
    *(None, "", "x", "\x1b[2J", "\u202eabc\n::error::x", "[bold]x[/bold]", "$(touch x)"),
    *(0, -1, 10**30, 1.5, True, [], {}, [None], [{}], ["x"], {"x": "y"}, b"\x00"),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
    datetime(2026, 1, 1),  # noqa: DTZ001 - without a zone, as no API answers
)
"""Values that no API promises to return, and some that are possible."""


@dataclass(slots=True)
class Answers:
    """Recorded answers to each operation of a run, in order; the last one repeats."""

    recorded: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    def places(self) -> list[tuple[str, int, tuple[Any, ...]]]:
        """Return the operation, index and path of every value of every answer."""
        return [
            (operation, index, path)
            for operation, answers in sorted(self.recorded.items())
            for index, answer in enumerate(answers)
            if isinstance(answer, dict)
            for path in _paths(answer)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one answer."""

    operation: str
    index: int
    path: tuple[Any, ...]
    what: str
    """`drop`, `put`, `many` (of a list) or `again` (the same next page without end)."""
    value: Any = None

    def apply(self, answer: Any) -> Any:
        """Return the changed answer."""
        changed = copy.deepcopy(answer)
        if self.what == "again":
            return {**changed, **dict.fromkeys(FIXED_TOKENS, "more")}
        if not self.path:
            return self.value if self.what == "put" else {}
        place = changed
        for part in self.path[:-1]:
            place = place[part]
        if self.what == "drop":
            del place[self.path[-1]]
        elif self.what == "many" and isinstance(place[self.path[-1]], list):
            place[self.path[-1]] = place[self.path[-1]] * 1000
        else:
            place[self.path[-1]] = self.value
        return changed


def changes(answers: Answers) -> st.SearchStrategy[Change]:
    """Return one change to one of the answers."""
    what = st.sampled_from(["drop", "put", "put", "put", "many", "again"])
    return st.builds(
        lambda place, what, value: Change(
            operation=place[0], index=place[1], path=place[2], what=what, value=value
        ),
        st.sampled_from(answers.places()),
        what,
        st.sampled_from(ODD),
    )


def ask(stack: str) -> Preflight:
    """Run the preflight of a tracked stack file, completed with the ids of the account."""
    file = completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack)))
    # The times of the account's reservations are relative to its creation.
    return run_preflight(
        config_of(file), stack_file=file.name, region=file.region, now=datetime.now(UTC)
    )


def record(*stacks: str) -> dict[str, Answers]:
    """Return the answers of the sandbox's account to the preflight of each stack."""
    found = {stack: Answers() for stack in stacks}
    call = BaseClient._make_api_call  # type: ignore[attr-defined]
    account = AwsServer(region="us-west-2", keep_time=False)
    with account as server, pytest.MonkeyPatch.context() as patch:
        use_account(patch, server.access)
        patch.setattr("trainyard.components.account.reader._AT_ONCE", 1)
        for stack, answers in found.items():
            patch.setattr(BaseClient, "_make_api_call", _recording(call, answers))
            ask(stack)
    return found


def _recording(call: Callable[..., Any], answers: Answers) -> Callable[..., Any]:
    def recording(client: Any, operation: str, arguments: Any) -> Any:
        try:
            answer = call(client, operation, arguments)
        except ClientError as error:
            answers.recorded.setdefault(operation, []).append(error)
            raise
        answers.recorded.setdefault(operation, []).append(copy.deepcopy(answer))
        return answer

    return recording


@contextmanager
def answered(answers: Answers, change: Change) -> Iterator[None]:
    """Answer as recorded, except for one change, without using the network."""
    said: dict[str, int] = {}

    def replayed(_client: Any, operation: str, _arguments: Any) -> Any:
        known = answers.recorded.get(operation)
        if known is None:
            error = {"Error": {"Code": "AccessDenied", "Message": "not recorded"}}
            raise ClientError(error, operation)  # pyright: ignore[reportArgumentType]
        index = min(said.get(operation, 0), len(known) - 1)
        said[operation] = index + 1
        answer = known[index]
        if (operation, index) == (change.operation, change.index):
            return change.apply(answer)
        if isinstance(answer, Exception):
            raise answer
        return copy.deepcopy(answer)

    with pytest.MonkeyPatch.context() as patch:
        _credentials(patch)
        patch.setattr(BaseClient, "_make_api_call", replayed)
        patch.setattr("trainyard.components.account.reader._AT_ONCE", 1)
        patch.setattr(AccountReader, "client", lambda _reader, service: _client(service))
        yield


@cache
def _client(service: str) -> Any:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    return boto3.client(service, region_name="us-west-2", **keys)  # pyright: ignore


def _credentials(patch: pytest.MonkeyPatch) -> None:
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path[:1] == ("ResponseMetadata",):
        return
    yield path
    entries: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        # The first of equal entries represents all of them.
        entries = enumerate(value[:2])
    for key, inner in entries:
        yield from _paths(inner, (*path, key))
