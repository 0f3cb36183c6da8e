"""Calls of the engine to a provider: a stand-in in this process, or a plugin over gRPC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
from google.protobuf import struct_pb2
from google.protobuf.json_format import ParseDict
from pulumi.runtime.proto import provider_pb2, status_pb2

from trainyard.sandbox.providers._protocol.values import from_struct, to_struct

SEED = b"the same in preview and update"


class RefusedError(Exception):
    """The provider ended a call with an error; users see the message."""


class Call:
    """The engine's side of one call: keeps error details, and raises errors as exceptions."""

    def __init__(self) -> None:
        self.details: dict[str, bytes] = {}

    def set_trailing_metadata(self, metadata: tuple[tuple[str, bytes], ...]) -> None:
        """Keep the error details."""
        self.details = dict(metadata)

    def abort(self, code: grpc.StatusCode, message: str) -> NoReturn:
        """End the call as gRPC does."""
        raise RefusedError(message)


@dataclass(frozen=True)
class Made:
    """A resource as the engine keeps it in the state."""

    identifier: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Plugin:
    """A configured provider.

    Args:
        servicer: Has the methods of the provider protocol, each with a request and a `Call`.
    """

    def __init__(self, servicer: Any, **configuration: Any) -> None:
        self.servicer = servicer
        self.last = Call()
        request = provider_pb2.ConfigureRequest(args=to_struct(configuration))
        servicer.Configure(request, self._call())

    def check(
        self, token: str, news: dict[str, Any], olds: dict[str, Any] | None = None, name: str = "it"
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the inputs as completed by the provider, and its check failures by property."""
        request = provider_pb2.CheckRequest(
            urn=urn(token, name),
            news=to_struct(news),
            olds=to_struct(olds or {}),
            randomSeed=SEED,
        )
        answer = self.servicer.Check(request, self._call())
        return from_struct(answer.inputs), {f.property: f.reason for f in answer.failures}

    def foreseen(self, token: str, news: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs in the preview of a creation."""
        inputs, failures = self.check(token, news)
        assert not failures, failures
        request = provider_pb2.CreateRequest(
            urn=urn(token), properties=to_struct(inputs), preview=True
        )
        return from_struct(self.servicer.Create(request, self._call()).properties)

    def create(self, token: str, news: dict[str, Any], name: str = "it") -> Made:
        """Create a resource from the inputs of a program."""
        inputs, failures = self.check(token, news, name=name)
        assert not failures, failures
        request = provider_pb2.CreateRequest(urn=urn(token, name), properties=to_struct(inputs))
        answer = self.servicer.Create(request, self._call())
        return Made(answer.id, inputs, from_struct(answer.properties))

    def diff(self, token: str, made: Made, news: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return the changed properties, and those of them that replace the resource."""
        answer = self.difference(token, made, news)
        return list(answer.diffs), list(answer.replaces)

    def deletes_first(self, token: str, made: Made, news: dict[str, Any]) -> bool:
        """Return whether a replacement deletes the old resource first."""
        return self.difference(token, made, news).deleteBeforeReplace

    def difference(self, token: str, made: Made, news: dict[str, Any]) -> Any:
        """Return the provider's complete diff for other inputs."""
        inputs, failures = self.check(token, news, made.inputs)
        assert not failures, failures
        request = provider_pb2.DiffRequest(
            id=made.identifier,
            urn=urn(token),
            olds=_state(made.outputs),
            old_inputs=to_struct(made.inputs),
            news=to_struct(inputs),
        )
        return self.servicer.Diff(request, self._call())

    def update(self, token: str, made: Made, news: dict[str, Any]) -> Made:
        """Update a resource to the new inputs of a program."""
        return self._changed(token, made, news, preview=False)

    def foreseen_change(self, token: str, made: Made, news: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs in the preview of an update."""
        return self._changed(token, made, news, preview=True).outputs

    def _changed(self, token: str, made: Made, news: dict[str, Any], *, preview: bool) -> Made:
        inputs, failures = self.check(token, news, made.inputs)
        assert not failures, failures
        request = provider_pb2.UpdateRequest(
            id=made.identifier,
            urn=urn(token),
            olds=_state(made.outputs),
            old_inputs=to_struct(made.inputs),
            news=to_struct(inputs),
            preview=preview,
        )
        answer = self.servicer.Update(request, self._call())
        return Made(made.identifier, inputs, from_struct(answer.properties))

    def read(self, token: str, made: Made) -> Made | None:
        """Refresh a resource; None if it no longer exists. Without inputs it is an import."""
        request = provider_pb2.ReadRequest(
            id=made.identifier,
            urn=urn(token),
            properties=_state(made.outputs),
            inputs=to_struct(made.inputs),
        )
        answer = self.servicer.Read(request, self._call())
        if not answer.id:
            return None
        return Made(answer.id, from_struct(answer.inputs), from_struct(answer.properties))

    def kept(self) -> Made | None:
        """Return the resource that the engine keeps after the last call's error, or None."""
        packed = self.last.details.get("grpc-status-details-bin")
        if packed is None:
            return None
        status, failed = status_pb2.Status(), provider_pb2.ErrorResourceInitFailed()
        status.ParseFromString(packed)
        status.details[0].Unpack(failed)
        return Made(failed.id, from_struct(failed.inputs), from_struct(failed.properties))

    def delete(self, token: str, made: Made) -> None:
        """Delete a resource."""
        request = provider_pb2.DeleteRequest(
            id=made.identifier,
            urn=urn(token),
            properties=_state(made.outputs),
            old_inputs=to_struct(made.inputs),
        )
        self.servicer.Delete(request, self._call())

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a function."""
        request = provider_pb2.InvokeRequest(tok=token, args=to_struct(arguments))
        answer = self.servicer.Invoke(request, self._call())
        return from_struct(getattr(answer, "return"))

    def _call(self) -> Call:
        self.last = Call()
        return self.last


def _state(outputs: dict[str, Any]) -> struct_pb2.Struct:
    """Return outputs as the engine sends them, with known null values."""
    return ParseDict(outputs, struct_pb2.Struct())


def urn(token: str, name: str = "it") -> str:
    """Return the URN of a resource at the top of a stack."""
    return f"urn:pulumi:test::trainyard::{token}::{name}"
