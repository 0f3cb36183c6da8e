"""A provider plugin process, with a record of its calls as the engine makes them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

from tools.conformance.wire import shown
from trainyard.sandbox.providers._protocol.serve import MAXIMUM_MESSAGE_BYTES
from trainyard.sandbox.providers._protocol.values import to_struct

CALL_SECONDS = 60.0
"""Timeout for a call; waits that fail in a case have shorter timeouts."""
OPTIONS = [
    ("grpc.max_receive_message_length", MAXIMUM_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAXIMUM_MESSAGE_BYTES),
]

Values = dict[str, Any]


class PluginError(RuntimeError):
    """The plugin does not start; the message has its output."""


class RefusedError(Exception):
    """The plugin rejected a call.

    Attributes:
        kept: What the engine keeps of the resource in its state, as `id`, `properties` and
            `inputs`; None if there is nothing to keep.
    """

    def __init__(self, message: str, kept: Values | None) -> None:
        super().__init__(message)
        self.kept = kept


@dataclass(slots=True)
class Journal:
    """The calls of a case in order, and the plugin's messages to the user."""

    exchanges: list[Values] = field(default_factory=list[Values])
    messages: list[str] = field(default_factory=list[str])


class _Engine(engine_pb2_grpc.EngineServicer):
    """The part of the engine that plugins call: it receives messages."""

    def __init__(self) -> None:
        self.journal = Journal()

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's name
        # Progress messages that the terminal overwrites depend on timing.
        if not request.ephemeral and request.severity >= engine_pb2.INFO:
            level = engine_pb2.LogSeverity.Name(request.severity).lower()
            self.journal.messages.append(f"{level}: {request.message}")
        return empty_pb2.Empty()


@dataclass(frozen=True, slots=True)
class Plugin:
    """A running provider plugin."""

    _stub: Any
    _engine: _Engine

    @property
    def version(self) -> str:
        """Return the version that the plugin reports."""
        return self._stub.GetPluginInfo(empty_pb2.Empty(), timeout=CALL_SECONDS).version

    def write_to(self, journal: Journal) -> None:
        """Record subsequent calls in another journal."""
        self._engine.journal = journal

    def call(self, name: str, request: Values, shown_as: Mapping[str, str] | None = None) -> Values:
        """Make a call, record it, and return the response.

        Args:
            name: A method of `ResourceProvider`.
            request: Fields of its message; dictionaries are property values.
            shown_as: Text to record for fields that repeat an earlier exchange.

        Raises:
            RefusedError: the plugin returned an error.
        """
        journal = self._engine.journal
        exchange: Values = {"call": name, "request": _shown(request) | {**(shown_as or {})}}
        journal.exchanges.append(exchange)
        said = len(journal.messages)
        try:
            answer = getattr(self._stub, name)(_message(name, request), timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise PluginError(f"{name} takes longer than {CALL_SECONDS:.0f} s") from None
            refused = _refused(error)
            exchange["error"] = str(refused)
            if refused.kept is not None:
                exchange["kept"] = _shown(refused.kept)
            raise refused from None
        else:
            values = _values(answer)
            exchange["answer"] = _shown(values)
            return values
        finally:
            if messages := sorted(set(journal.messages[said:])):
                exchange["messages"] = messages


@contextlib.contextmanager
def running(
    command: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Plugin]:
    """Start a plugin, and stop it at the end of the block.

    Args:
        command: The plugin's program; the address of an engine is appended.
        log: File for its output.
        environment: Environment variables in addition to those of this process.

    Raises:
        PluginError: it exits before it listens.
    """
    with engine() as (address, attach), log.open("ab") as errors:
        process = subprocess.Popen(
            [*command, address],
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            with attach(_port(process, log)) as plugin:
                yield plugin
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


@contextlib.contextmanager
def engine() -> Iterator[tuple[str, Callable[[int], AbstractContextManager[Plugin]]]]:
    """Listen as the engine does.

    Yields:
        The address for a plugin's messages, and a function that connects to a plugin's port.
    """
    heard = _Engine()
    server = grpc.server(ThreadPoolExecutor(max_workers=8), options=OPTIONS)
    engine_pb2_grpc.add_EngineServicer_to_server(heard, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()

    @contextlib.contextmanager
    def attach(port: int) -> Iterator[Plugin]:
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS) as channel:
            yield Plugin(provider_pb2_grpc.ResourceProviderStub(channel), heard)

    try:
        yield address, attach
    finally:
        server.stop(None)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    line = process.stdout.readline().decode().strip() if process.stdout else ""
    if not line.isdecimal():
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise PluginError(f"the plugin does not start: {said or 'it said nothing'}")
    return int(line)


def _message(name: str, request: Values) -> Any:
    kind = {"CheckConfig": "Check", "DiffConfig": "Diff"}.get(name, name)
    fields = {
        key: to_struct(value) if isinstance(value, dict) and key != "variables" else value
        for key, value in request.items()
    }
    return getattr(provider_pb2, f"{kind}Request")(**fields)


def _values(answer: Any) -> Values:
    # A diff without `kind` means ADD, the first value of the enum.
    whole = MessageToDict(answer, always_print_fields_with_no_presence=True)
    found: Values = {}
    for descriptor, value in answer.ListFields():
        kind = descriptor.message_type
        if kind is not None and kind.full_name == "google.protobuf.Struct":
            found[descriptor.name] = MessageToDict(value)
        else:
            found[descriptor.name] = whole[descriptor.json_name]
    return found


def _refused(error: Any) -> RefusedError:
    kept = None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status, failed = status_pb2.Status(), provider_pb2.ErrorResourceInitFailed()
            status.ParseFromString(value)
            if status.details and status.details[0].Unpack(failed):
                kept = _values(failed)
    return RefusedError(error.details() or str(error), kept)


def _shown(values: Values) -> Values:
    return {key: shown(value) for key, value in values.items() if not isinstance(value, bytes)}
