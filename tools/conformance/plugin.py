"""A component provider process, and the engine as it sees it."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    resource_pb2,
    resource_pb2_grpc,
)

from tools.conformance.wire import provider, provider_inputs, resource, shown, shown_struct
from trainyard.sandbox.providers._protocol.serve import MAXIMUM_MESSAGE_BYTES
from trainyard.sandbox.providers._protocol.values import SIGNATURE, UNKNOWN, to_struct

# The engine as a component provider sees it: registers resources, answers calls, records.
#
# Nothing is created. A resource gets the outputs that the caller defines for its type. In a preview
# they are unknown, as with a provider that has not created the resource yet.


FEATURES = {
    "secrets": resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    "resourceReferences": resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
    "outputValues": resource_pb2.RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES,
    "aliasSpecs": resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    "deletedWith": resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
}
"""Features that the components require. The engine applies transforms itself; a component does not
receive those that its program registered."""
PROTOCOL = frozenset(
    {
        *("acceptResources", "acceptSecrets", "accepts_byte_string", "custom", "name", "object"),
        *("parent", "parentStackTraceHandle", "propertyDependencies", "remote", "sourcePosition"),
        *("stackTrace", "supportsPartialValues", "supportsResultReporting", "type", "version"),
        *("aliasSpecs", "deleteBeforeReplaceDefined"),
    }
)
"""Fields of a registration that are recorded under another name, or that describe the provider's
SDK and not the resource."""

Values = dict[str, Any]
Outputs = Callable[[str, str, Values], Values]
"""Maps type, name and inputs of a resource to the outputs that its provider adds."""


class Monitor(resource_pb2_grpc.ResourceMonitorServicer, engine_pb2_grpc.EngineServicer):
    """Records one Construct call."""

    def __init__(
        self, *, outputs: Outputs, functions: Mapping[str, Mapping[str, Any]], preview: bool
    ) -> None:
        """Answer with `outputs` for resources, and with `functions`, by token, for calls."""
        self._outputs = outputs
        self._functions = functions
        self._preview = preview
        self._lock = threading.Lock()
        self.resources: dict[str, Values] = {}
        self.calls: list[Values] = []
        self.registered_outputs: dict[str, Values] = {}
        self.plugins: dict[str, str] = {}
        self.messages: list[str] = []

    def urn(self, type_: str, name: str, parent: str = "") -> str:
        """Return the URN of a resource in the recorded stack."""
        line = parent.split("::")[2] + "$" if parent else ""
        return f"urn:pulumi:recording::trainyard::{line}{type_}::{name}"

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:
        """Return what newer SDKs request instead of individual features."""
        return resource_pb2.DeploymentInfo(
            dryRun=self._preview, supportedFeatures=list(FEATURES.values())
        )

    def SupportsFeature(self, request: Any, context: Any) -> Any:
        """Return whether the engine supports a feature."""
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id in FEATURES)

    def RegisterResource(self, request: Any, context: Any) -> Any:
        """Record a resource and respond as if it were created."""
        urn = self.urn(request.type, request.name, request.parent)
        inputs = provider_inputs(request.object)
        with self._lock:
            self.resources[resource(urn)] = _registration(request, inputs)
            if request.version:
                self.plugins[_package(request.type)] = request.version
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=to_struct({}))
        added = self._outputs(request.type, request.name, inputs)
        found = dict.fromkeys(added, UNKNOWN) if self._preview else added
        identifier = self._identifier(request, added)
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=identifier, object=to_struct({**inputs, **found})
        )

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:
        """Record the outputs that a component registers."""
        with self._lock:
            self.registered_outputs[resource(request.urn)] = shown_struct(request.outputs)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        """Record and answer a function call."""
        call: Values = {"function": request.tok, "arguments": shown_struct(request.args)}
        if request.provider:
            call["provider"] = provider(request.provider)
        with self._lock:
            self.calls.append(call)
        if request.tok not in self._functions:
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"{request.tok}: the recorder has no answer for this function",
            )
        answer = provider_pb2.InvokeResponse()
        # The field name is a Python keyword.
        getattr(answer, "return").CopyFrom(to_struct(dict(self._functions[request.tok])))
        return answer

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> Any:
        """Let a provider exit."""
        return empty_pb2.Empty()

    def Log(self, request: Any, context: Any) -> Any:
        """Keep a message in case the construction fails."""
        if request.severity != engine_pb2.DEBUG:
            self.messages.append(request.message)
        return empty_pb2.Empty()

    def GetRootResource(self, request: Any, context: Any) -> Any:
        """Return that no root stack is registered."""
        return engine_pb2.GetRootResourceResponse()

    def SetRootResource(self, request: Any, context: Any) -> Any:
        """Accept the root stack."""
        return engine_pb2.SetRootResourceResponse()

    @contextlib.contextmanager
    def served(self) -> Iterator[str]:
        """Serve on the loopback interface; yield the address."""
        size = MAXIMUM_MESSAGE_BYTES
        limits = [("grpc.max_receive_message_length", size), ("grpc.max_send_message_length", size)]
        server = grpc.server(ThreadPoolExecutor(max_workers=8), options=limits)
        resource_pb2_grpc.add_ResourceMonitorServicer_to_server(self, server)
        engine_pb2_grpc.add_EngineServicer_to_server(self, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(grace=None).wait()

    def _identifier(self, request: Any, outputs: Values) -> str:
        if not self._preview:
            return outputs.get("id", f"{request.name}-id")
        # References to a provider require an id, even an unknown one.
        return UNKNOWN if request.type.startswith("pulumi:providers:") else ""


def _registration(request: Any, inputs: Values) -> Values:
    """Return the resource in a request; options that are not set are omitted."""
    message = MessageToDict(request, preserving_proto_field_name=True)
    options = {key: value for key, value in message.items() if key not in PROTOCOL and value}
    for key in ("dependencies", "deletedWith"):
        if key in options:
            options[key] = _resources(options[key])
    if "provider" in options:
        options["provider"] = provider(options["provider"])
    if "providers" in options:
        options["providers"] = {k: provider(v) for k, v in sorted(options["providers"].items())}
    sources = {
        key: _resources(list(each.urns))
        for key, each in sorted(request.propertyDependencies.items())
        if each.urns
    }
    if sources:
        options["propertyDependencies"] = sources
    if request.deleteBeforeReplaceDefined:
        options["deleteBeforeReplace"] = request.deleteBeforeReplace
    return {
        "parent": resource(request.parent) if request.parent else "",
        **({"inputs": shown(inputs)} if inputs else {}),
        **({"options": options} if options else {}),
    }


def _resources(urns: Any) -> Any:
    return sorted({*map(resource, urns)}) if isinstance(urns, list) else resource(urns)


def _package(type_: str) -> str:
    parts = type_.split(":")
    return parts[2] if parts[:2] == ["pulumi", "providers"] else parts[0]


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
