"""The analyzer of the SDK, with one decoding of each request.

`pulumi_policy` decodes all properties of a resource for every rule, and the whole stack for every
stack rule, so the time of a preview grows with the number of rules. This servicer lets the SDK
decode a request for one rule that keeps its arguments, and runs every rule of the pack on them.

It depends on private parts of the SDK: the class `_PolicyAnalyzerServicer` and three of its
methods. `tests/policies/test_servicer.py` compares its answers with those of the SDK, message by
message, and fails if a new version of the SDK answers differently. Only the message about a value
that is unknown in a preview is its own.

Source:
    https://github.com/pulumi/pulumi-policy/blob/main/sdk/python/lib/pulumi_policy/policy.py
    https://github.com/pulumi/pulumi/blob/master/proto/pulumi/analyzer.proto
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc
from pulumi_policy import (
    EnforcementLevel,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.policy import _PolicyAnalyzerServicer as SdkServicer
from pulumi_policy.proxy import UnknownValueError

from trainyard.components.secret_text import without_secrets
from trainyard.components.update_gate import ask_early, granted_early
from trainyard.policies.pack.configured import with_config
from trainyard.policies.resources.stack import Resources
from trainyard.policies.rule import Rule

_VERSION = "0.0.1"
"""The version that the SDK reports; the engine uses that of `PulumiPolicy.yaml`."""
# The limit of the SDK; a stack is one message.
_LARGEST_MESSAGE_BYTES = 400 * 1024 * 1024
_THREADS = 4
_ONE_DAY_SECONDS = 24 * 60 * 60
_EVERY_RULE = "all"
"""Key that sets the level of every rule; the engine applies it and also passes it on."""


class PackServicer(SdkServicer):
    """Serves a pack with the answers of the SDK, and decodes each request once."""

    def __init__(self, name: str, policies: Sequence[Rule]) -> None:
        super().__init__(name, _VERSION, list(policies), EnforcementLevel.ADVISORY)
        self._name = name
        self._policies = tuple(policies)
        self._stack_tags: analyzer_pb2.AnalyzerStackConfigureRequest | None = None

    def Configure(
        self, request: analyzer_pb2.ConfigureAnalyzerRequest, context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Apply the configuration, or reject it if it names an unknown rule.

        The engine passes on unknown names, so a typo would have no effect and no message.
        """
        known = {_EVERY_RULE, *(policy.name for policy in self._policies)}
        unknown = sorted(request.policyConfig.keys() - known)
        if unknown:
            text = "; ".join(self._no_such_rule(name) for name in unknown)
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        return super().Configure(request, context)

    def ConfigureStack(
        self, request: analyzer_pb2.AnalyzerStackConfigureRequest, context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzerStackConfigureResponse:
        """Store the tags of the stack."""
        self._stack_tags = request
        return super().ConfigureStack(request, context)

    def Analyze(
        self, request: analyzer_pb2.AnalyzeRequest, context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzeResponse:
        """Run the resource rules on one resource at its registration."""
        args = self._decoded(ResourceValidationPolicy, SdkServicer.Analyze, request, context)
        response = analyzer_pb2.AnalyzeResponse()
        for policy, level in self._enabled():
            if isinstance(policy, ResourceValidationPolicy):
                self._run(policy, level, with_config(args, self._config(policy)), response)
        return response

    def AnalyzeStack(
        self, request: analyzer_pb2.AnalyzeStackRequest, context: grpc.ServicerContext
    ) -> analyzer_pb2.AnalyzeResponse:
        """Run the stack rules on all resources; report a violation if the launcher refuses."""
        ask_early(os.environ)
        args = self._decoded(StackValidationPolicy, SdkServicer.AnalyzeStack, request, context)
        resources = Resources(args.resources)
        response = analyzer_pb2.AnalyzeResponse()
        for policy, level in self._enabled():
            if isinstance(policy, StackValidationPolicy):
                rule_args = StackValidationArgs(resources, self._config(policy), args.stack_tags)
                self._run(policy, level, rule_args, response)
        # The launcher decides while the rules run.
        if not granted_early(os.environ):
            response.diagnostics.append(self._refusal())
        return response

    def _refusal(self) -> analyzer_pb2.AnalyzeDiagnostic:
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName="update-permission",
            policyPackName=self._name,
            policyPackVersion=_VERSION,
            message="trainyard does not let this update begin; the reason is below",
            description="An update deletes only what the user named.",
            enforcementLevel=analyzer_pb2.MANDATORY,
        )

    def _decoded(
        self,
        kind: type[Rule],
        analyze: Callable[[SdkServicer, Any, grpc.ServicerContext], object],
        request: Any,
        context: grpc.ServicerContext,
    ) -> Any:
        """Return the arguments that the SDK passes to a rule; concurrent requests share nothing."""
        read: list[Any] = []
        reader = kind(
            name="reader",
            description="Keeps the decoded arguments.",
            validate=lambda args, _report: read.append(args),
        )
        servicer = SdkServicer(self._name, _VERSION, [reader], EnforcementLevel.ADVISORY)
        if self._stack_tags is not None:
            servicer.ConfigureStack(self._stack_tags, None)
        analyze(servicer, request, context)
        (args,) = read
        return args

    def _enabled(self) -> Iterator[tuple[Rule, EnforcementLevel]]:
        for policy in self._policies:
            level = self._get_enforcement_level(policy)
            if level == EnforcementLevel.REMEDIATE:  # the pack has no remediation
                level = EnforcementLevel.MANDATORY
            if level != EnforcementLevel.DISABLED:
                yield policy, level

    def _config(self, policy: Rule) -> dict[str, Any] | None:
        return self._get_policy_config(policy.name)

    def _run(self, policy: Any, level: EnforcementLevel, args: Any, response: Any) -> None:
        report = self._create_report_violation(
            response, policy.name, policy.description, level, policy.severity
        )
        try:
            policy.validate(args, report)
        except UnknownValueError as unknown:
            # Advice can wait for `up`: the first preview of every stack has unknown values.
            if level != EnforcementLevel.ADVISORY:
                response.diagnostics.append(self._undecided(policy, unknown))
        for diagnostic in response.diagnostics:
            # A property of a resource can hold a secret that a message would repeat.
            diagnostic.message = without_secrets(diagnostic.message)

    def _undecided(self, policy: Rule, unknown: UnknownValueError) -> Any:
        message = (
            f"not checked in this preview: {'.'.join(unknown.props)} is known only in the update, "
            "which checks it"
        )
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName=policy.name,
            policyPackName=self._name,
            policyPackVersion=_VERSION,
            message=message,
            description=policy.description,
            enforcementLevel=analyzer_pb2.ADVISORY,
        )

    def _no_such_rule(self, name: str) -> str:
        near = difflib.get_close_matches(name, [policy.name for policy in self._policies], n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return f"the configuration names {name!r}, which is not a rule of the pack{meant}"


def serve(servicer: PackServicer) -> None:
    """Serve a pack until the engine ends the process; the first line of output is the port."""
    limit = ("grpc.max_receive_message_length", _LARGEST_MESSAGE_BYTES)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=_THREADS), options=[limit])
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 - the engine reads it
    while True:
        time.sleep(_ONE_DAY_SECONDS)
