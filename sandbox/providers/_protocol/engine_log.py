"""Messages that a plugin has for the user beside its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

Log = Callable[[str, str, str], None]
"""Tell something: the severity (`info`, `warning`), the URN that it is about, the message."""
SECONDS = 5.0


def unheard(severity: str, urn: str, message: str) -> None:
    """Tell nobody: there is no engine."""


def engine_log(arguments: Sequence[str]) -> Log:
    """Return how the engine that started a plugin with these arguments is told something."""
    if not arguments:
        return unheard
    stub: Any = engine_pb2_grpc.EngineStub(grpc.insecure_channel(arguments[0]))

    def log(severity: str, urn: str, message: str) -> None:
        level = engine_pb2.LogSeverity.Value(severity.upper())
        stub.Log(engine_pb2.LogRequest(severity=level, urn=urn, message=message), timeout=SECONDS)

    return log
