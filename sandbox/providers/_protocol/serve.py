"""Serve an emulated provider to the engine that started it, and end with that engine."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlparse

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc

MAXIMUM_MESSAGE_BYTES = 400 * 1024 * 1024
"""The limit of Pulumi's own plugins."""
PARENT_POLL_SECONDS = 0.5
LOG_SECONDS = 5.0

Log = Callable[[str, str, str], None]
"""Sends the user a message: severity (`info`, `warning`), URN of its subject, and text."""


def require_sandbox_endpoint() -> str:
    """Return the address of the sandbox's AWS server.

    Raises:
        SystemExit: it is not set, or is not on this machine.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if urlparse(endpoint).hostname not in {"127.0.0.1", "localhost", "::1"}:
        sys.exit(
            "this plugin is the sandbox's stand-in for an official Pulumi provider; it only talks "
            f"to a sandbox on this machine, and AWS_ENDPOINT_URL is {endpoint or 'not set'}. "
            "Use ./trainyard … --sandbox, or the official plugin for a real account"
        )
    return endpoint


def unheard(severity: str, urn: str, message: str) -> None:
    """Drop a message: no engine started this plugin."""


def engine_log(arguments: Sequence[str]) -> Log:
    """Return the `Log` of the engine that started this plugin with these arguments."""
    if not arguments:
        return unheard
    stub: Any = engine_pb2_grpc.EngineStub(grpc.insecure_channel(arguments[0]))

    def log(severity: str, urn: str, message: str) -> None:
        level = engine_pb2.LogSeverity.Value(severity.upper())
        request = engine_pb2.LogRequest(severity=level, urn=urn, message=message)
        stub.Log(request, timeout=LOG_SECONDS)

    return log


def serve(servicer: provider_pb2_grpc.ResourceProviderServicer) -> None:
    """Serve the engine until it ends."""
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MAXIMUM_MESSAGE_BYTES),
        ("grpc.max_send_message_length", MAXIMUM_MESSAGE_BYTES),
    ]
    server = grpc.server(ThreadPoolExecutor(max_workers=32), options=options)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    end_with_parent()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


def end_with_parent() -> None:
    """End this process when its parent has ended."""
    end_with_the_engine()


def end_with_the_engine() -> None:
    """End this process with its engine: on request, and after `kill -9`."""
    # The engine sends SIGINT, which by default prints a traceback that the engine would show.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    # A killed engine does not end its plugins; the process then gets another parent.
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(0)
