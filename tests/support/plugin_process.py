"""A provider plugin in a process of its own, called as the engine calls it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox.providers._protocol.serve import MAXIMUM_MESSAGE_BYTES
from tests.support.provider_plugin import Call
from tools.workspace.environment import sandbox_environment

NO_ENGINE = "127.0.0.1:9"
"""Where the plugin looks for an engine to log to; nothing answers there."""


class RemoteServicer:
    """The servicer of a plugin that runs elsewhere: each method is a call of it."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._stub = provider_pb2_grpc.ResourceProviderStub(channel)

    def __getattr__(self, method: str) -> Callable[[Any, Call], Any]:
        """Return the call of that name; an error ends it through `Call.abort`."""
        remote = getattr(self._stub, method)

        def call(request: Any, context: Call) -> Any:
            try:
                return remote(request)
            except grpc.RpcError as error:
                failed: Any = error
                context.set_trailing_metadata(tuple(failed.trailing_metadata() or ()))
                context.abort(failed.code(), failed.details())

        return call


@contextlib.contextmanager
def plugin_process(executable: Path, endpoint: str, directory: Path) -> Iterator[RemoteServicer]:
    """Start a plugin whose AWS is an emulated account, and end it after the block.

    Args:
        executable: The program `pulumi-resource-<name>`.
        endpoint: Answers its AWS calls.
        directory: Where it may write.
    """
    environment = sandbox_environment(
        os.environ,
        engine=executable.parent,
        home=directory,
        backend=directory,
        passphrase="",
        region="us-west-2",
        aws_endpoint=endpoint,
    )
    with subprocess.Popen(
        [executable, NO_ENGINE],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = f"127.0.0.1:{int(process.stdout.readline())}"
            options = [
                ("grpc.max_receive_message_length", MAXIMUM_MESSAGE_BYTES),
                ("grpc.enable_http_proxy", 0),
            ]
            with grpc.insecure_channel(address, options=options) as channel:
                yield RemoteServicer(channel)
        finally:
            process.kill()
