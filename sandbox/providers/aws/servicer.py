"""The provider protocol over the resource types and functions that the sandbox knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from sandbox.latency.pace import as_long_as_aws
from sandbox.providers._protocol.servicer import (
    ProviderError,
    StandInServicer,
    UnfinishedError,
)
from sandbox.providers._protocol.values import (
    from_struct,
    name_of,
    to_struct,
    type_of,
)
from sandbox.providers.aws.account import Account, is_missing
from sandbox.providers.aws.failures import aws_words
from sandbox.providers.aws.foreseen import foreseen, foreseen_change
from sandbox.providers.aws.functions import FUNCTIONS
from sandbox.providers.aws.inputs import as_written, faults
from sandbox.providers.aws.names import automatic_name
from sandbox.providers.aws.registry import RESOURCE_TYPES
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import until_propagated

VERSION = "7.51.1"
CONFIGURATION = frozenset(
    {
        "profile",
        "region",
        "skipCredentialsValidation",
        "skipMetadataApiCheck",
        "skipRegionValidation",
        "version",
    }
)
UPDATE = provider_pb2.PropertyDiff.Kind.UPDATE
REPLACE = provider_pb2.PropertyDiff.Kind.UPDATE_REPLACE


_PROPAGATING = (
    "aws:autoscaling/group:",
    "aws:batch/computeEnvironment:",
    "aws:batch/jobQueue:",
    "aws:ec2/",
    "aws:fsx/",
    "aws:iam/",
)
"""Beginnings of the types that the official provider looks for again where they are new: those of
EC2 and IAM for two minutes, the others in a waiter; EKS has its own, in `eks_cluster.wait`."""


class _NotFoundError(ProviderError):
    """What was made is not found."""


class AwsServicer(StandInServicer):
    """Answers the engine for `aws` resources from the sandbox's account."""

    package = "aws"
    version = VERSION
    configuration = CONFIGURATION

    def __init__(self, endpoint: str) -> None:
        """Remember the account's address; the region comes with `Configure`."""
        self.endpoint = endpoint
        self.account: Account | None = None

    def Configure(self, request: Any, context: Any) -> Any:
        """Take the region; credentials are neither needed nor read."""
        settings = from_struct(request.args)
        self.account = Account(endpoint=self.endpoint, region=settings.get("region", "us-west-2"))
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    def Check(self, request: Any, context: Any) -> Any:
        """Refuse properties the sandbox does not know; name the resource; fill in defaults."""
        kind = self._kind(request.urn, context)
        news, olds = from_struct(request.news), from_struct(request.olds)
        failures = [
            provider_pb2.CheckFailure(property=name, reason=reason)
            for name, reason in faults(kind, news)
        ]
        inputs = {**kind.defaults, **news}
        name = kind.name_property
        if name and name not in news and kind.name_prefix_property not in news:
            inputs[name] = olds.get(name) or automatic_name(
                name_of(request.urn), request.randomSeed, kind.name_limit
            )
        return provider_pb2.CheckResponse(inputs=to_struct(inputs), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare the inputs that were with those that are wanted."""
        kind = self._kind(request.urn, context)
        olds, news = from_struct(request.old_inputs), from_struct(request.news)
        changed = sorted(k for k in {*olds, *news} if olds.get(k) != news.get(k))
        sometimes = kind.replace_when(olds, news) if kind.replace_when else []
        replacing = {*kind.replace_on, *sometimes}
        replaces = [k for k in changed if kind.update is None or k in replacing]
        fixed_name = kind.delete_before_replace or (
            kind.name_property in news
            and not _is_automatic(name_of(request.urn), news.get(kind.name_property))
        )
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME
            if changed
            else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=changed,
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and fixed_name,
            hasDetailedDiff=True,
            detailedDiff={
                k: provider_pb2.PropertyDiff(kind=REPLACE if k in replaces else UPDATE)
                for k in changed
            },
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Make the object, or say in a preview what it will be."""
        kind, inputs = self._kind(request.urn, context), from_struct(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(foreseen(kind, inputs)))

        def create() -> tuple[str, Values]:
            with as_long_as_aws(kind.token, inputs, "create"):
                identifier, _ = kind.create(self._account(), inputs)
                return identifier, self._settled(kind, identifier, inputs)

        identifier, outputs = self._guarded(context, name_of(request.urn), create)
        return provider_pb2.CreateResponse(id=identifier, properties=to_struct(outputs))

    def Read(self, request: Any, context: Any) -> Any:
        """Read the object as it is, for a refresh or an import."""
        kind = self._kind(request.urn, context)
        name, identifier = name_of(request.urn), request.id
        if kind.known_as is not None:
            known_as = kind.known_as
            identifier = self._guarded(context, name, lambda: known_as(self._account(), request.id))
        found = self._guarded(context, name, lambda: self._read(kind, identifier))
        if found is None:
            return provider_pb2.ReadResponse()
        known = from_struct(request.inputs) or {k: found[k] for k in kind.inputs if k in found}
        inputs = {k: as_written(value, found.get(k, value)) for k, value in known.items()}
        return provider_pb2.ReadResponse(
            id=identifier,
            properties=to_struct({**from_struct(request.properties), **found}),
            inputs=to_struct(inputs),
        )

    def Update(self, request: Any, context: Any) -> Any:
        """Change the object, or say in a preview what it will be."""
        kind, news = self._kind(request.urn, context), from_struct(request.news)
        outputs = from_struct(request.olds)
        if request.preview:
            changed = foreseen_change(kind, outputs, from_struct(request.old_inputs), news)
            return provider_pb2.UpdateResponse(properties=to_struct(changed))

        def update() -> Values:
            if kind.update is None:
                raise ProviderError("this type is replaced, never changed")
            with as_long_as_aws(kind.token, news, "update"):
                kind.update(self._account(), request.id, from_struct(request.old_inputs), news)
            return self._outputs(kind, request.id, news)

        return provider_pb2.UpdateResponse(
            properties=to_struct(self._guarded(context, name_of(request.urn), update))
        )

    def Delete(self, request: Any, context: Any) -> Any:
        """Delete the object; one that is gone already is fine."""
        kind = self._kind(request.urn, context)

        def delete() -> None:
            outputs = from_struct(request.properties)
            try:
                with as_long_as_aws(kind.token, outputs, "delete"):
                    kind.delete(self._account(), request.id, outputs)
            except ClientError as error:
                if not is_missing(error):
                    raise

        self._guarded(context, name_of(request.urn), delete)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        """Answer a function of pulumi-aws."""
        arguments = from_struct(request.args)
        arguments.pop("region", None)

        def call() -> Values:
            if request.tok not in FUNCTIONS:
                known = ", ".join(sorted(FUNCTIONS))
                raise ProviderError(f"the sandbox does not know this function; it knows {known}")
            return FUNCTIONS[request.tok](self._account(), arguments)

        answer = self._guarded(context, request.tok, call)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(answer))
        return response

    def _settled(self, kind: ResourceType, identifier: str, inputs: Values) -> Values:
        try:
            with aws_words():
                if kind.settle is not None:
                    kind.settle(self._account(), identifier, inputs)
                return self._outputs(kind, identifier, inputs)
        except ProviderError as error:
            # The object exists: without its id the engine would forget it, and destroy leave it.
            outputs = to_struct(self._known(kind, identifier, inputs))
            raise UnfinishedError(str(error), identifier, outputs, to_struct(inputs)) from error

    def _known(self, kind: ResourceType, identifier: str, inputs: Values) -> Values:
        """Return what is known of an object that may not be read any more: at least its inputs.

        So does the official provider, which has set the id before it waits or reads.
        """
        try:
            with aws_words():
                return self._outputs(kind, identifier, inputs)
        except ProviderError:
            return dict(inputs)

    def _outputs(self, kind: ResourceType, identifier: str, inputs: Values) -> Values:
        return {**inputs, **self._read_new(kind, identifier)}

    def _read_new(self, kind: ResourceType, identifier: str) -> Values:
        def read() -> Values:
            found = self._read(kind, identifier)
            if found is None:
                raise _NotFoundError(f"{identifier} was made and is not there any more")
            return found

        propagates = kind.token.startswith(_PROPAGATING)
        return until_propagated(
            read, lambda error: propagates and isinstance(error, _NotFoundError)
        )

    def _read(self, kind: ResourceType, identifier: str) -> Values | None:
        try:
            return kind.read(self._account(), identifier)
        except ClientError as error:
            if is_missing(error):
                return None
            raise

    def _account(self) -> Account:
        if self.account is None:
            raise ProviderError("the provider was not configured")
        return self.account

    def _kind(self, urn: str, context: Any) -> ResourceType:
        token = type_of(urn)

        def find() -> ResourceType:
            if token not in RESOURCE_TYPES:
                known = ", ".join(sorted(RESOURCE_TYPES))
                raise ProviderError(
                    f"the sandbox does not know the type {token}; it would have to be added under "
                    f"sandbox/providers/aws/resources. It knows {known}"
                )
            return RESOURCE_TYPES[token]

        return self.guarded(context, name_of(urn), find)

    def _guarded(self, context: Any, what: str, do: Callable[[], Any]) -> Any:
        def with_aws_words() -> Any:
            with aws_words():
                return do()

        return self.guarded(context, what, with_aws_words)


def _is_automatic(logical_name: str, name: Any) -> bool:
    return isinstance(name, str) and name.startswith(logical_name) and name != logical_name
