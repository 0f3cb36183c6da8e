"""The pack's servicer answers like the SDK's, and reads each request once.

It depends on non-public parts of the SDK; a new version must pass these tests.
"""

from __future__ import annotations

import pulumi_policy.policy
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, StackValidationPolicy

from tests.support.policy import UNKNOWN, Declared
from tests.support.policy_pack import configuration, resource_requests, stack_request
from tests.support.policy_programs import EFA_NETWORK, auto_scaling_group, template
from tests.support.rule_programs import all_programs
from trainyard.policies.pack.configured import served
from trainyard.policies.pack.discovery import PACK_NAME, POLICIES
from trainyard.policies.pack.servicer import PackServicer, SdkServicer

LEVELS = {
    "advisory": analyzer_pb2.ADVISORY,
    "mandatory": analyzer_pb2.MANDATORY,
    "remediate": analyzer_pb2.REMEDIATE,
    "disabled": analyzer_pb2.DISABLED,
}


def both(rules=POLICIES):
    """Return the pack's servicer and the SDK's, with the same rules."""
    theirs = SdkServicer(PACK_NAME, "0.0.1", served(rules), EnforcementLevel.ADVISORY)
    return PackServicer(PACK_NAME, served(rules)), theirs


def answers(servicer, program) -> list[object]:
    return [
        *(servicer.Analyze(request, None) for request in resource_requests(program)),
        servicer.AnalyzeStack(stack_request(program), None),
    ]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_every_message_is_the_one_of_the_sdk(policy):
    programs = all_programs()[policy.name]
    request = configuration({policy.name: LEVELS["advisory"]}, {policy.name: programs.config})
    for servicer in (pair := both([policy])):
        servicer.Configure(request, None)
    for program in (*programs.violating, *programs.clean):
        ours, theirs = (answers(servicer, program) for servicer in pair)
        assert ours == theirs


def test_what_is_not_known_yet_is_told_of_the_rules_of_which_the_sdk_tells_it():
    program = (template(blockDeviceMappings=UNKNOWN, networkInterfaces=UNKNOWN), *EFA_NETWORK)
    ours, theirs = (
        [d for answer in answers(servicer, program) for d in answer.diagnostics]
        for servicer in both()
    )
    told = {d.policyName: d.message for d in ours if d.message.startswith("not checked in this")}
    assert set(told) == {d.policyName for d in theirs if "can't run policy" in d.message}
    assert told["ebs-encrypted"] == (
        "not checked in this preview: p5-template.blockDeviceMappings is known only in the "
        "update, which checks it"
    )


@pytest.mark.parametrize(("level", "told"), [("advisory", False), ("mandatory", True)])
def test_an_advisory_rule_does_not_tell_what_it_cannot_know_before_up(level, told):
    program = (template(instanceType="p5.48xlarge", userData=UNKNOWN), *EFA_NETWORK)
    request = configuration({"eks-local-storage": LEVELS[level]}, {})
    ours, theirs = both()
    said = []
    for servicer in (ours, theirs):
        servicer.Configure(request, None)
        found = [d for answer in answers(servicer, program) for d in answer.diagnostics]
        said.append(any(d.policyName == "eks-local-storage" for d in found))
    assert said == [told, True]


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_counts_as_with_the_sdk(level):
    program = (
        template(blockDeviceMappings=[{"ebs": {}}]),
        auto_scaling_group(vpcZoneIdentifiers=["subnet-a", "subnet-b"]),
        *EFA_NETWORK,
    )
    names = dict.fromkeys(("ebs-encrypted", "efa-single-zone"), LEVELS[level])
    for servicer in (pair := both()):
        servicer.Configure(configuration(names, {}), None)
    ours, theirs = (answers(servicer, program) for servicer in pair)
    assert ours == theirs
    found = {d.policyName for answer in ours for d in answer.diagnostics} & names.keys()
    assert found == (set() if level == "disabled" else set(names))


def test_the_pack_describes_itself_as_with_the_sdk():
    ours, theirs = (servicer.GetAnalyzerInfo(None, None) for servicer in both())
    assert ours == theirs


def seen_by_a_rule(servicer_class, request, stack, *, tags):
    """Return all arguments of the SDK for a rule on a resource, and for one on a stack."""
    seen = []
    policies = [
        ResourceValidationPolicy(
            name="on-resource", description="d", validate=lambda args, _: seen.append(args)
        ),
        StackValidationPolicy(
            name="on-stack", description="d", validate=lambda args, _: seen.append(args)
        ),
    ]
    if servicer_class is SdkServicer:
        servicer = SdkServicer(PACK_NAME, "0.0.1", policies, EnforcementLevel.ADVISORY)
    else:
        servicer = PackServicer(PACK_NAME, policies)
    servicer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(tags=tags), None)
    servicer.Configure(
        configuration(dict.fromkeys(("on-resource", "on-stack"), 1), {"on-resource": {"key": 1}}),
        None,
    )
    servicer.Analyze(request, None)
    servicer.AnalyzeStack(stack, None)
    return seen


def plain(value):
    """Return arguments of a rule as plain values, at any depth."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "__dict__"):
        return {key: plain(item) for key, item in vars(value).items() if key != "parent"}
    return value


def test_a_rule_is_given_what_the_sdk_gives_it():
    """Including provider, options, tags of the stack, secrets and configuration."""
    secret = struct_pb2.Struct()
    secret.update(
        {"password": {"4dabf18193072939515e22adb298388d": SECRET, "value": "hidden"}, "size": 3}
    )
    provider = analyzer_pb2.AnalyzerProviderResource(
        type="pulumi:providers:aws", urn="urn:provider", name="aws", properties=secret
    )
    request = analyzer_pb2.AnalyzeRequest(
        type="aws:rds/instance:Instance",
        urn="urn:a",
        name="a",
        properties=secret,
        provider=provider,
        options=analyzer_pb2.AnalyzerResourceOptions(protect=True, ignoreChanges=["size"]),
    )
    stack = analyzer_pb2.AnalyzeStackRequest(
        resources=[
            analyzer_pb2.AnalyzerResource(type="t", urn="urn:parent", name="parent"),
            analyzer_pb2.AnalyzerResource(
                type="t", urn="urn:b", name="b", properties=secret, parent="urn:parent"
            ),
        ]
    )
    given = [
        seen_by_a_rule(servicer, request, stack, tags={"team": "training"})
        for servicer in (PackServicer, SdkServicer)
    ]
    ours, theirs = ([plain(args) for args in seen] for seen in given)
    assert ours == theirs
    assert given[0][1].resources[1].parent.name == "parent"


SECRET = "1b47061264138c4ac30d75fd1eb44270"


def test_each_request_is_decoded_once_however_many_rules_there_are(monkeypatch):
    decoded = []
    decode = pulumi_policy.policy.deserialize_properties

    def counted(properties, *arguments):
        decoded.append(properties)
        return decode(properties, *arguments)

    monkeypatch.setattr(pulumi_policy.policy, "deserialize_properties", counted)
    program = [template(), *EFA_NETWORK, Declared("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "a"})]
    answers(PackServicer(PACK_NAME, served(POLICIES)), program)
    assert len(decoded) == 2 * len(program)
