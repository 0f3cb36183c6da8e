"""The AWS provider plugin of the sandbox as a process of its own, called as the engine calls it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2_grpc

from tests.support.provider_plugin import Call, Plugin, RefusedError
from tools.engine import ensure_plugins, ensure_pulumi
from tools.workspace.environment import sandbox_environment

REGION = "us-west-2"
DETAILS = "grpc-status-details-bin"
"""Trailing metadata in which gRPC carries what an error says besides its message."""


class _Engine(engine_pb2_grpc.EngineServicer):
    """Takes the log lines of the plugin, as the engine does; without it a warning ends it."""

    def Log(self, request: Any, context: Any) -> Any:
        """Take a line."""
        return empty_pb2.Empty()


class RemoteServicer:
    """Hands each call to a plugin process, and its errors back as a provider in process does."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)

    def __getattr__(self, method: str) -> Callable[[Any, Call], Any]:
        """Return a method of the provider protocol."""
        remote = getattr(self._stub, method)

        def answer(request: Any, call: Call) -> Any:
            try:
                return remote(request)
            except grpc.RpcError as error:
                failed: Any = error
                trailing = tuple(tuple(each) for each in failed.trailing_metadata() or ())
                call.set_trailing_metadata(trailing)
                raise RefusedError(failed.details()) from None

        return answer


@cache
def aws_plugin_directory() -> Path:
    """Return the directory with the plugin that a sandbox would use."""
    plugins = ensure_plugins(print, ensure_pulumi(print))
    return next(Path(each.directory) for each in plugins if each.name == "aws")


@contextmanager
def running_aws_plugin(endpoint: str, scratch: Path, **settings: str) -> Iterator[Plugin]:
    """Start the plugin towards an emulated account, and end it.

    Args:
        endpoint: Address of the account.
        scratch: A directory that exists.
        settings: Environment variables of the plugin.
    """
    directory = aws_plugin_directory()
    environment = sandbox_environment(
        os.environ,
        engine=directory,
        home=scratch,
        backend=scratch,
        passphrase="",
        region=REGION,
        aws_endpoint=endpoint,
    )
    engine = grpc.server(ThreadPoolExecutor(max_workers=4))
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(), engine)
    engine_port = engine.add_insecure_port("127.0.0.1:0")
    engine.start()
    with subprocess.Popen(
        [directory / "pulumi-resource-aws", f"127.0.0.1:{engine_port}"],
        env=environment | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                servicer: Any = RemoteServicer(channel)
                yield Plugin(servicer, region=REGION, skipCredentialsValidation="true")
        finally:
            process.kill()
            engine.stop(None)
