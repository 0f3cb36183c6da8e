"""Answers that are made from the tables of facts, as boto3 returns them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.utils import parse_timestamp

from tests.witness.support.tables import tables
from trainyard.acceptance.shapes import STATE_KEYS, Fact, model_of, shape_of

TIME = datetime(2026, 11, 28, tzinfo=UTC)
NAME = "text"
"""Text of which nothing is known."""
ACCOUNT = "123456789012"
_SAMPLES = {
    "text": NAME,
    "empty": "",
    "uuid": "0a000000-0000-4000-8000-000000000001",
    "time": "2026-11-28T00:00:00.000Z",
    "date": "2026-11-28",
    "account": ACCOUNT,
    "number": "1.35",
    "network": "10.0.0.0/24",
    "address": "10.0.0.1",
    "zone": "us-west-2a",
    "zone id": "usw2-az1",
    "region": "us-west-2",
    "url": "https://example.com",
    "boolean": "true",
}
NEXT_PAGE = {"NextToken", "nextToken", "Marker", "NextMarker"}
"""Keys of the next page; these answers have one."""
_PARSED = "policyDocumentType"
"""Texts of IAM that boto3 parses."""


def sample(pattern: str) -> str:
    """Return a text with a pattern."""
    kind, _, rest = pattern.partition(" ")
    if kind == "arn":
        service, _, resource = rest.partition(" ")
        return f"arn:aws:{service}:us-west-2:{ACCOUNT}:{resource or NAME}" + (
            f"/{NAME}" if resource else ""
        )
    if kind == "id":
        return f"{rest}-0123456789abcdef0"
    return _SAMPLES[pattern]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an answer."""

    operation: str
    state: str
    facts: Mapping[str, Fact]


@dataclass(slots=True)
class Answering:
    """Answers to all operations that have a table."""

    state: str = ""
    """State of the objects, if an operation has recordings of it."""
    without: tuple[str, str] = ("", "")
    """Operation and path of a key that its objects lack."""
    asked: set[str] = field(default_factory=set)

    def answer(self, operation: str) -> Any:
        """Return the answer to an operation.

        Raises:
            ClientError: nothing is known of its answers.
        """
        self.asked.add(operation)
        if operation not in tables():
            error = {"Error": {"Code": "AccessDenied", "Message": "not witnessed"}}
            raise ClientError(error, operation)  # pyright: ignore[reportArgumentType]
        state = recorded_state(operation, self.state)
        return self._made(
            shape_of(operation), "", _Known(operation, state, facts_of(operation, state))
        )

    def _made(self, shape: Any, path: str, known: _Known) -> Any:
        facts, kind = known.facts, shape.type_name
        fact = facts.get(path)
        if kind == "structure":
            start = f"{path}." if path else ""
            return {
                key: self._made(each, start + key, known)
                for key, each in shape.members.items()
                if key not in NEXT_PAGE and self._has(start + key, known)
            }
        if kind in {"list", "map"}:
            below = f"{path}[]" if kind == "list" else f"{path}.*"
            leaf = shape.member if kind == "list" else shape.value
            if leaf.type_name == "structure" and not any(each.startswith(below) for each in facts):
                return [] if kind == "list" else {}
            inside = _Known(known.operation, known.state, {**facts, below: fact or Fact()})
            value = self._made(leaf, below, inside)
            return [value] if kind == "list" else {NAME: value}
        if kind == "timestamp":
            return _time(known.operation)
        return _leaf(shape, fact or Fact(), path, known.state)

    def _has(self, path: str, known: _Known) -> bool:
        has = path in known.facts and known.facts[path].have > 0
        return has and self.without != (known.operation, path)


def _time(operation: str) -> datetime:
    """Return a time as boto3 does: of a number, in the zone of the machine; of a text, in its own.

    Services with JSON answer numbers, those with XML texts in UTC.
    """
    protocol = model_of(operation.partition(".")[0]).metadata["protocol"]
    number = "json" in protocol
    return parse_timestamp(TIME.timestamp() if number else TIME.isoformat())


def _leaf(shape: Any, fact: Fact, path: str, state: str) -> Any:
    kind = shape.type_name
    if kind == "boolean":
        return True
    if kind in {"integer", "long", "float", "double"}:
        return 1
    if kind == "blob":
        return b""
    if shape.name == _PARSED:
        return {"Version": "2012-10-17", "Statement": []}
    if state in fact.values and path.rpartition(".")[2] in {*STATE_KEYS, "Name"}:
        return state
    if fact.values:
        return min(fact.values)
    return sample(min(fact.patterns - {"empty"}, default="text"))


def recorded_state(operation: str, state: str) -> str:
    """Return a state if objects in it were recorded, else the state of the most objects."""
    states = tables()[operation].states
    counts = {
        name: max((fact.of for fact in facts.values()), default=0)
        for name, facts in states.items()
        if name
    }
    if state and state in states:
        return state
    return max(counts, key=lambda each: counts[each], default="")


def facts_of(operation: str, state: str) -> Mapping[str, Fact]:
    """Return the facts about an answer with an object in a state."""
    states = tables()[operation].states
    return {**states.get("", {}), **states.get(state, {})}


def optional_keys(operation: str, state: str) -> Iterator[str]:
    """Yield the keys that some objects lack, except for old ones."""
    for path, fact in facts_of(operation, recorded_state(operation, state)).items():
        if 0 < fact.have < fact.of and fact.since is None:
            yield path


@contextmanager
def replayed(answering: Answering) -> Iterator[Answering]:
    """Let all clients of boto3 answer so, without the network."""

    def call(client: Any, operation: str, _arguments: Any) -> Any:
        return answering.answer(f"{client.meta.service_model.service_name}.{operation}")

    made: Callable[..., Any] = call
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", made)
        yield answering
