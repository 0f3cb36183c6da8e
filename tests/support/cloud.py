"""A Pulumi engine for tests: it records what a program registers and touches no cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime.mocks import MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.proto import callback_pb2

from tests.support import provider_answers

SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d"
"""How the engine marks a special value: a secret or a resource."""

Transform = Callable[[pulumi.ResourceTransformArgs], pulumi.ResourceTransformResult | None]


@dataclass(frozen=True, slots=True)
class Registered:
    """A resource as the program registered it."""

    type: str
    name: str
    urn: str
    parent: str
    inputs: dict[str, Any] = field(hash=False)
    dependencies: frozenset[str]
    """URNs of `depends_on` and of every resource whose outputs are inputs."""
    ignore_changes: tuple[str, ...]
    provider: str
    transforms: tuple[Transform, ...]
    """Aliases and other options that apply to it and to its children."""
    protect: bool = False
    retain_on_delete: bool = False
    deleted_with: str = ""
    """URN of the resource with which it is deleted."""
    deletes_first: bool = False
    """Whether a replacement deletes the old object first."""
    custom_timeouts: dict[str, str] = field(default_factory=dict[str, str], hash=False)
    """How long the engine waits, by operation."""
    import_id: str = ""
    """Id of an existing object that the engine imports."""
    replaced_on_changes: tuple[str, ...] = ()
    """Properties whose change the engine plans as a replacement."""

    @property
    def is_component(self) -> bool:
        """Whether it is one of this program's components."""
        return self.type.startswith("trainyard:")


class _Provider(Mocks):
    def __init__(self, calls: Mapping[str, Mapping[str, Any]]) -> None:
        self.calls = {**provider_answers.CALLS, **calls}

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", {
            **args.inputs,
            **provider_answers.outputs(args.typ, args.name, args.inputs),
        }

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[Any]]:
        if args.token not in self.calls:
            raise AssertionError(f"no answer for {args.token}; pass it to deploy(calls=...)")
        return {**args.args, **self.calls[args.token]}, []


class Callbacks:
    """Replaces the server through which the engine calls a program's transforms."""

    def __init__(self) -> None:
        self._transforms: list[Transform] = []

    def register_transform(self, transform: Transform) -> callback_pb2.Callback:
        """Return the callback with which the engine calls the transform."""
        self._transforms.append(transform)
        return callback_pb2.Callback(token=str(len(self._transforms) - 1), target="test")

    def transform(self, callback: callback_pb2.Callback) -> Transform:
        """Return the transform of a callback."""
        return self._transforms[int(callback.token)]


class Cloud(MockMonitor):
    """Records registrations, calls, and which components were closed with register_outputs."""

    def __init__(self, calls: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        super().__init__(_Provider(calls or {}))
        self.registered: list[Registered] = []
        self.closed: list[str] = []
        self.invoked: list[tuple[str, dict[str, Any]]] = []
        self.exports: dict[str, Any] = {}
        self.callbacks = Callbacks()
        self.resources.update(
            {
                urn: MockMonitor.ResourceRegistration(urn, state["id"], state)
                for urn, state in provider_answers.REFERENCED.items()
            }
        )

    def Invoke(self, request: Any) -> Any:  # noqa: N802 (gRPC name)
        if request.tok != "pulumi:pulumi:getResource":
            arguments = pulumi.runtime.rpc.deserialize_properties(request.args)
            self.invoked.append((request.tok, arguments))
        return super().Invoke(request)

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (gRPC name)
        response = super().RegisterResource(request)
        if request.type != "pulumi:pulumi:Stack":
            inputs = pulumi.runtime.rpc.deserialize_properties(request.object)
            self.registered.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    urn=response.urn,
                    parent=request.parent,
                    inputs={key: readable(value) for key, value in inputs.items()},
                    dependencies=frozenset(request.dependencies),
                    ignore_changes=tuple(request.ignoreChanges),
                    provider=request.provider,
                    transforms=tuple(map(self.callbacks.transform, request.transforms)),
                    protect=request.protect,
                    retain_on_delete=request.retainOnDelete,
                    deleted_with=request.deletedWith,
                    deletes_first=request.deleteBeforeReplace,
                    custom_timeouts={
                        operation.name: limit
                        for operation, limit in request.customTimeouts.ListFields()
                    },
                    import_id=request.importId,
                    replaced_on_changes=tuple(request.replaceOnChanges),
                )
            )
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 (gRPC name)
        self.closed.append(request.urn)
        return super().RegisterResourceOutputs(request)

    def one(self, name: str, type_: str | None = None) -> Registered:
        """Return the only resource with the name that is not a component, or that has the type."""
        (found,) = [
            r
            for r in self.registered
            if r.name == name and (r.type == type_ if type_ else not r.is_component)
        ]
        return found

    def of_type(self, type_: str) -> list[Registered]:
        """Return every resource of a type, by name."""
        return sorted((r for r in self.registered if r.type == type_), key=lambda r: r.name)

    def line(self, made: Registered) -> list[str]:
        """Return the URNs of a resource and of its parents, up to the stack."""
        urns = [made.urn]
        parents = {other.urn: other.parent for other in self.registered}
        while urns[-1] in parents:
            urns.append(parents[urns[-1]])
        return urns

    def components(self) -> list[Registered]:
        """Return the components that this repository defines."""
        return [r for r in self.registered if r.is_component]


def readable(value: Any) -> Any:
    """Return a recorded value with secrets as `{"secret": value}` and whole numbers as int."""
    if isinstance(value, dict):
        if SECRET_SIGNATURE in value:
            return {"secret": readable(value["value"])}
        return {key: readable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [readable(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
