"""Hands every call of the engine to a provider plugin, through the gate.

`python -m tests.support.kills.gated_plugin PLUGIN ENGINE` starts the plugin and replaces it towards
the engine. Messages pass unchanged, so it works for every plugin; only the URN of `Create` and
`Delete` is read.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import grpc
from pulumi.runtime.proto import provider_pb2

from tests.support.kills.gate import DIRECTORY, Gate, Moment
from trainyard.sandbox import die_with_parent
from trainyard.sandbox.providers._protocol.serve import MAXIMUM_MESSAGE_BYTES, end_with_parent

_REQUESTS: Mapping[str, type[Any]] = {
    "Create": provider_pb2.CreateRequest,
    "Delete": provider_pb2.DeleteRequest,
}
"""Calls that can be held, with their requests."""
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", MAXIMUM_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAXIMUM_MESSAGE_BYTES),
    # The error of an object that is not ready has the whole object in its metadata, and Python's
    # gRPC refuses more than 16 KiB; the engine does not.
    ("grpc.absolute_max_metadata_size", MAXIMUM_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAXIMUM_MESSAGE_BYTES),
]
_MOST_CALLS = 256
"""Concurrent calls; each held call occupies a thread."""


class Gateway(grpc.GenericRpcHandler):
    """Forwards every method to the plugin."""

    def __init__(self, plugin: grpc.Channel, gate: Gate) -> None:
        self._plugin = plugin
        self._gate = gate
        self._moments = {call: gate.moments(call) for call in _REQUESTS}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        """Return the handler that forwards calls of a method."""
        path: str = handler_call_details.method
        name = path.rpartition("/")[2]
        remote = self._plugin.unary_unary(path)

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            def forward() -> bytes:
                return _forwarded(remote, request, context)

            return self._through_the_gate(name, request, forward)

        return grpc.unary_unary_rpc_method_handler(answer)

    def _through_the_gate(self, name: str, request: bytes, forward: Callable[[], bytes]) -> bytes:
        if name not in _REQUESTS:
            return forward()
        asked = _REQUESTS[name].FromString(request)
        moment = self._moments[name].get(asked.urn)
        if moment is None or getattr(asked, "preview", False):
            return forward()
        if moment is Moment.NOT_BEGUN:
            self._gate.stop(asked.urn)
        answered = forward()
        if moment is Moment.UNANSWERED:
            self._gate.stop(asked.urn)
        return answered


def _forwarded(remote: Any, request: bytes, context: grpc.ServicerContext) -> bytes:
    try:
        return remote(request, metadata=_passed_on(context.invocation_metadata()))
    except grpc.RpcError as error:
        failed: Any = error
        context.set_trailing_metadata(_passed_on(failed.trailing_metadata() or ()))
        context.abort(failed.code(), failed.details())
        raise AssertionError("abort returns") from error


def _passed_on(metadata: Any) -> tuple[tuple[str, str | bytes], ...]:
    own = ("user-agent", "grpc-", ":")
    details = "grpc-status-details-bin"
    return tuple((k, v) for k, v in metadata if k == details or not k.startswith(own))


def main(program: str, *arguments: str) -> None:
    """Serve until the engine ends."""
    end_with_parent()
    command = [sys.executable, die_with_parent.__file__, str(os.getpid()), program, *arguments]
    # The plugin of dynamic resources ends when the engine closes its standard input.
    plugin = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=None, text=True)
    output: IO[str] | None = plugin.stdout
    assert output is not None
    channel = grpc.insecure_channel(f"127.0.0.1:{int(output.readline())}", options=_OPTIONS)
    server = grpc.server(ThreadPoolExecutor(max_workers=_MOST_CALLS), options=_OPTIONS)
    gateway = Gateway(channel, Gate(Path(os.environ[DIRECTORY])))
    server.add_generic_rpc_handlers((gateway,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    plugin.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
