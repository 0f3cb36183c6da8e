"""A component provider process, and `Construct` calls as the engine makes them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from tools.conformance.monitor import Monitor, Outputs, Values
from tools.conformance.wire import resource, shown_struct
from trainyard.sandbox.providers._protocol.values import SIGNATURE, to_struct

CONSTRUCT_SECONDS = 120.0
"""Timeout; a component that takes longer waits for an AWS call without an answer."""

LOG_LINES = 15


class ConstructError(RuntimeError):
    """The plugin does not start or rejects the component; the message has its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """A component as a program requests it, with the responses of AWS."""

    type: str
    name: str
    inputs: Values
    preview: bool
    outputs: Outputs
    functions: Mapping[str, Mapping[str, Any]]
    parent: str = "trainyard:eks:EksCluster"
    """Type of the trainyard component that contains it; that component is named `parent`."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A running component provider."""

    address: str
    log: Path
    """File with its output."""

    def version(self) -> str:
        """Return the version that the plugin reports."""
        with grpc.insecure_channel(self.address) as channel:
            stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)
            return stub.GetPluginInfo(empty_pb2.Empty(), timeout=CONSTRUCT_SECONDS).version

    def construct(self, wanted: Construction) -> Values:
        """Return what the component registers, calls and returns.

        Raises:
            ConstructError: the plugin rejects the component.
        """
        monitor = Monitor(
            outputs=wanted.outputs, functions=wanted.functions, preview=wanted.preview
        )
        with monitor.served() as endpoint, grpc.insecure_channel(self.address) as channel:
            stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)
            request = _request(wanted, endpoint, monitor)
            try:
                answer = stub.Construct(request, timeout=CONSTRUCT_SECONDS)
            except grpc.RpcError as error:
                said = "\n".join(
                    [error.details() or str(error), *monitor.messages, _end_of(self.log)]
                )
                raise ConstructError(f"{wanted.type} {wanted.name}: {said}") from None
        return _recorded(monitor, answer)


@contextlib.contextmanager
def running(
    command: Sequence[str], *, environment: Mapping[str, str], log: Path
) -> Iterator[Plugin]:
    """Start a plugin, and stop it at the end of the block.

    Args:
        command: The plugin's program; the address of an engine is appended.
        environment: The complete environment of the plugin.
        log: File for its output.

    Raises:
        ConstructError: it exits before it reports a port.
    """
    with Monitor(outputs=lambda *_: {}, functions={}, preview=True).served() as engine:
        with log.open("wb") as errors:
            try:
                process = subprocess.Popen(
                    [*command, engine], env=dict(environment), stdout=subprocess.PIPE, stderr=errors
                )
            except OSError as error:
                raise ConstructError(f"{command[0]}: {error.strerror}") from None
        with process:
            stdout: Any = process.stdout
            try:
                port = stdout.readline().decode().strip()
                if not port.isdecimal():
                    raise ConstructError(f"{command[0]} does not start: {_end_of(log)}")
                yield Plugin(f"127.0.0.1:{port}", log)
            finally:
                process.kill()


def _end_of(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-LOG_LINES:])


def _request(wanted: Construction, endpoint: str, monitor: Monitor) -> Any:
    sources = {key: _sources(value) for key, value in wanted.inputs.items()}
    dependencies = {
        key: provider_pb2.ConstructRequest.PropertyDependencies(urns=urns)
        for key, urns in sources.items()
        if urns
    }
    return provider_pb2.ConstructRequest(
        project="trainyard",
        stack="recording",
        organization="organization",
        dryRun=wanted.preview,
        parallel=8,
        monitorEndpoint=endpoint,
        type=wanted.type,
        name=wanted.name,
        parent=monitor.urn(wanted.parent, "parent"),
        inputs=to_struct(wanted.inputs),
        inputDependencies=dependencies,
        accepts_output_values=True,
    )


def _sources(value: Any) -> list[str]:
    """Return the URNs of the resources that a value depends on."""
    if isinstance(value, list):
        return sorted({urn for item in value for urn in _sources(item)})
    if isinstance(value, dict) and SIGNATURE in value:
        return value["dependencies"]
    return []


def _recorded(monitor: Monitor, answer: Any) -> Values:
    outputs = shown_struct(answer.state)
    component = resource(answer.urn)
    for name, registered in monitor.registered_outputs.items():
        same = name == component and registered == outputs
        monitor.resources[name]["outputs"] = "<the component's>" if same else registered
    return {
        "resources": dict(sorted(monitor.resources.items())),
        "calls": sorted(monitor.calls, key=lambda call: (call["function"], str(call))),
        "outputs": outputs,
        "outputDependencies": {
            key: sorted({*map(resource, each.urns)})
            for key, each in sorted(answer.stateDependencies.items())
            if each.urns
        },
        "plugins": dict(sorted(monitor.plugins.items())),
    }
