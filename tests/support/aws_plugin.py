"""The plugin of the AWS provider, called over gRPC by a test instead of the engine.

with aws_plugin(server.access) as plugin:
    made = plugin.create("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"})

`tests.support.provider_plugin.Plugin` has the operations. The plugin takes about a second to start,
so a fixture keeps it as long as its server.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2_grpc

from tests.support.provider_plugin import Call, Plugin, RefusedError
from tests.support.tracked import ROOT
from trainyard.engine.environment import sandbox_environment
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.engine import EngineError, ensure_plugins
from trainyard.sandbox.engine import Plugin as PluginProgram
from trainyard.sandbox.engine.aws_plugin_source import TERRAFORM_PROVIDER, WAIT_DIVISOR
from trainyard.sandbox.engine.go_source import fetched

REGION = "us-west-2"
MAPPING = ROOT / "sandbox" / "engine" / "aws_plugin" / "mapping.go"

# The longest wait of the provider between two attempts is 300 s.
AT_ONCE = {WAIT_DIVISOR: "100000"}
"""Environment variables of a plugin that does not wait between attempts."""

# The limit of Pulumi's own programs: sdk/go/common/util/rpcutil/serve.go.
_NO_LIMIT = [("grpc.max_receive_message_length", 400 * 1024 * 1024)]


@cache
def aws_program() -> PluginProgram:
    """Return the plugin that a sandbox would get on this machine."""
    plugins = ensure_plugins(print, ensure_pulumi(print).executable)
    return next(plugin for plugin in plugins if plugin.name == "aws")


def provider_source() -> Path:
    """Return the source of the Terraform provider from which the plugin is built."""
    built_program()
    try:
        return fetched(TERRAFORM_PROVIDER, "go")
    except (EngineError, FileNotFoundError) as error:
        pytest.skip(f"a build of this repository runs here, without its source: {error}")


def built_program() -> Path:
    """Return the executable that was built from this repository."""
    program = aws_program()
    if program.origin != "built":
        pytest.skip(f"{program.description}, and no build of this repository, runs here")
    return Path(program.directory) / "pulumi-resource-aws"


@cache
def described() -> dict[str, dict[str, Any]]:
    """Return the description of the types and functions of this repository's plugin.

    By token and wire name, as `sandbox/engine/aws_plugin/describe.go` writes it.
    """
    program = aws_program()
    if program.origin == "official":
        pytest.skip(f"{program.description} does not describe itself")
    command = [Path(program.directory) / "pulumi-resource-aws", "-describe"]
    done = subprocess.run(command, capture_output=True, check=True)
    return json.loads(done.stdout)


def mapped_types() -> frozenset[str]:
    """Return the resource types that the plugin of this repository has, from its source."""
    source = MAPPING.read_text(encoding="utf-8")
    table = source.partition("var resources = ")[2].partition("\n}\n")[0]
    names = re.findall(r'"aws_\w+":\s+"(\w+):(\w+)"', table)
    return frozenset(f"aws:{module}/{name[0].lower()}{name[1:]}:{name}" for module, name in names)


@contextmanager
def aws_plugin(
    account: Endpoint,
    region: str = REGION,
    *,
    settings: Mapping[str, str] | None = None,
    **configuration: Any,
) -> Iterator[Plugin]:
    """Run the plugin against an account, and stop it afterwards.

    `settings` are environment variables of the plugin, and `configuration` are additional arguments
    of the provider, such as `skipCredentialsValidation`.
    """
    with ExitStack() as stack:
        engine = stack.enter_context(_engine())
        process = stack.enter_context(_process(engine, account, region, settings or {}))
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, "the plugin ended before it listened; its message is above"
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=_NO_LIMIT)
        stub = provider_pb2_grpc.ResourceProviderStub(stack.enter_context(channel))
        yield Plugin(_Remote(stub), region=region, **configuration)


@contextmanager
def _process(
    engine: str, account: Endpoint, region: str, settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    program = Path(aws_program().directory) / "pulumi-resource-aws"
    nowhere = Path(os.devnull)
    environment = sandbox_environment(
        os.environ,
        engine=program.parent,
        programs=program.parent,
        home=nowhere,
        backend=nowhere,
        passphrase="",
        region=region,
        account=account,
    )
    process = subprocess.Popen(
        [str(program), engine], env=environment | settings, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _engine() -> Iterator[str]:
    """Run the engine's service, to which the plugin is bound, and yield its address."""
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


class _Engine(engine_pb2_grpc.EngineServicer):
    """The calls of the engine's service that a plugin makes."""

    def Log(self, request: Any, context: Any) -> Empty:  # noqa: N802 - of the protocol
        return Empty()


class _Remote:
    """The plugin's service, called with a `Call` instead of a timeout."""

    def __init__(self, stub: provider_pb2_grpc.ResourceProviderStub) -> None:
        self._stub = stub

    def __getattr__(self, method: str) -> Any:
        remote = getattr(self._stub, method)

        def ask(request: Any, call: Call) -> Any:
            try:
                return remote(request)
            except grpc.RpcError as error:
                answer: Any = error
                call.details = dict(answer.trailing_metadata())
                raise RefusedError(answer.details()) from error

        return ask
