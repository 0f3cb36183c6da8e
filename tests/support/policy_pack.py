"""The policy pack for tests: its process, its requests, and its findings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from tests.support.cloud import Cloud
from tests.support.policy import Declared, as_sent, check
from trainyard.policies.pack.discovery import POLICIES

PACK = Path(__file__).resolve().parents[2] / "policies"


class Pack:
    """A running policy pack."""

    def __init__(self, stub: analyzer_pb2_grpc.AnalyzerStub) -> None:
        self._stub = stub

    def info(self) -> Any:
        """Return the pack's description of itself and of its policies."""
        return self._stub.GetAnalyzerInfo(empty_pb2.Empty())

    def configure(
        self,
        config: Mapping[str, Mapping[str, Any]],
        levels: Mapping[str, analyzer_pb2.EnforcementLevel] | None = None,
    ) -> None:
        """Send the configuration as the engine does: every policy with its enforcement level."""
        info = {policy.name: policy.enforcementLevel for policy in self.info().policies}
        self._stub.Configure(configuration({**info, **(levels or {})}, config))

    def analyze(self, program: Sequence[Declared]) -> list[Any]:
        """Return all diagnostics: of each resource as it is registered, then of the stack."""
        found = [
            diagnostic
            for request in resource_requests(program)
            for diagnostic in self._stub.Analyze(request).diagnostics
        ]
        return [*found, *self._stub.AnalyzeStack(stack_request(program)).diagnostics]


@contextmanager
def running_pack(program: str = ".", *, directory: Path = PACK) -> Iterator[Pack]:
    """Start a pack, by its path relative to a working directory; it stops with the context."""
    # The first argument is the engine's address, which the pack needs only to write logs.
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", program]
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            port = process.stdout.readline().strip()
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield Pack(analyzer_pb2_grpc.AnalyzerStub(channel))
        finally:
            process.terminate()


def configuration(
    levels: Mapping[str, analyzer_pb2.EnforcementLevel], config: Mapping[str, Mapping[str, Any]]
) -> analyzer_pb2.ConfigureAnalyzerRequest:
    """Return the configuration of every policy that has a level."""
    return analyzer_pb2.ConfigureAnalyzerRequest(
        policyConfig={
            name: analyzer_pb2.PolicyConfig(
                enforcementLevel=level, properties=_struct(config.get(name, {}))
            )
            for name, level in levels.items()
        }
    )


def resource_requests(program: Sequence[Declared]) -> Iterator[analyzer_pb2.AnalyzeRequest]:
    """Yield the requests that the engine sends as each resource is registered."""
    for declared in program:
        yield analyzer_pb2.AnalyzeRequest(
            type=declared.type,
            urn=declared.urn,
            name=declared.name,
            properties=_struct(declared.props),
            options=analyzer_pb2.AnalyzerResourceOptions(protect=declared.protect),
        )


def stack_request(program: Sequence[Declared]) -> analyzer_pb2.AnalyzeStackRequest:
    """Return the request that the engine sends when all resources are registered."""
    return analyzer_pb2.AnalyzeStackRequest(resources=list(_stack_resources(program)))


def _stack_resources(program: Sequence[Declared]) -> Iterator[analyzer_pb2.AnalyzerResource]:
    urns = {declared.name: declared.urn for declared in program}
    for declared in program:
        yield analyzer_pb2.AnalyzerResource(
            type=declared.type,
            urn=declared.urn,
            name=declared.name,
            properties=_struct(declared.props),
            propertyDependencies={
                key: analyzer_pb2.AnalyzerPropertyDependencies(
                    urns=[urns[name] for name in names if name in urns]
                )
                for key, names in declared.depends.items()
            },
        )


def _struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(as_sent(values))
    return made


def declared(cloud: Cloud) -> list[Declared]:
    """Return the registered resources; every property has all dependencies of its resource."""
    names = {made.urn: made.name for made in cloud.registered}
    return [
        Declared(
            made.type,
            made.name,
            {"id": f"{made.name}-id", **made.inputs},
            {key: [names[u] for u in made.dependencies if u in names] for key in made.inputs},
            protect=made.protect,
        )
        for made in cloud.registered
        if not made.is_component
    ]


def violations(
    cloud: Cloud, config: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, list[str]]:
    """Return the messages of every rule that is broken, by rule; `config` is that of the pack."""
    program = declared(cloud)
    found = {p.name: check(p, *program, config=(config or {}).get(p.name)) for p in POLICIES}
    assert not [said for findings in found.values() for said in findings.undecided]
    return {name: findings.messages for name, findings in found.items() if findings.messages}
