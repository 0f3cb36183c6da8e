"""The pack as the engine runs it: started in its folder, called over gRPC, with real messages."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from pulumi.runtime.proto import analyzer_pb2

from tests.support.policy import UNKNOWN
from tests.support.policy_pack import Pack, running_pack
from tests.support.policy_programs import EFA_NETWORK, OWN_GROUP, OWN_ID, in_odcr, template
from tests.support.rule_programs import all_programs
from trainyard.policies.pack.discovery import POLICIES

LEVELS = {"advisory": analyzer_pb2.ADVISORY, "mandatory": analyzer_pb2.MANDATORY}
RULES = {policy.name: LEVELS[policy.enforcement_level.value] for policy in POLICIES}
OF_THE_PACK = {
    "suppressions": analyzer_pb2.ADVISORY,
    "expired-suppressions": analyzer_pb2.MANDATORY,
    "account-lookup": analyzer_pb2.ADVISORY,
}
"""Policies that report the handling of the configuration; they are listed after every rule."""


def cases(kind: str) -> list[pytest.param]:
    """Return each rule with each of its programs of a kind."""
    return [
        pytest.param(rule, program, id=f"{rule}-{number}")
        for rule in RULES
        for number, program in enumerate(getattr(all_programs()[rule], kind))
    ]


@pytest.fixture(scope="module")
def pack() -> Iterator[Pack]:
    with running_pack() as running:
        yield running


def test_the_pack_serves_every_policy_with_its_level_and_severity(pack):
    info = pack.info()
    assert info.name == "trainyard"
    levels = {policy.name: policy.enforcementLevel for policy in info.policies}
    assert levels == RULES | OF_THE_PACK
    assert [policy.name for policy in info.policies] == [*RULES, *OF_THE_PACK]
    assert all(policy.severity and policy.remediation_steps for policy in info.policies)
    assert all(policy.url for policy in info.policies if policy.name in RULES)


@pytest.mark.parametrize(("rule", "program"), cases("violating"))
def test_a_rule_refuses_its_violating_program_and_names_the_resource_and_the_fix(
    pack, rule, program
):
    pack.configure({rule: all_programs()[rule].config})
    found = [d for d in pack.analyze(program) if d.policyName == rule]
    said = [d for d in found if d.enforcementLevel == RULES[rule] and "can't run" not in d.message]
    assert said
    for diagnostic in said:
        resource, _, fault = diagnostic.message.partition("\n")[2].partition(": ")
        assert resource in {declared.name for declared in program}
        assert "; " in fault, "the message ends with the fix, behind a semicolon"
        assert not fault.endswith(".")


@pytest.mark.parametrize(("rule", "program"), cases("clean"))
def test_a_clean_program_passes_its_rule_without_a_word_and_breaks_no_mandatory_one(
    pack, rule, program
):
    pack.configure({rule: all_programs()[rule].config for rule in RULES})
    found = pack.analyze(program)
    assert not [d.message for d in found if d.policyName == rule]
    assert not [
        (d.policyName, d.message) for d in found if d.enforcementLevel == analyzer_pb2.MANDATORY
    ]


def test_without_configuration_an_own_reservation_in_its_group_is_refused_too(pack):
    """The strictest interpretation applies to programs without a description."""
    pack.configure({})
    program = [in_odcr(OWN_ID, placement={"groupName": OWN_GROUP}), *EFA_NETWORK]
    found = [d for d in pack.analyze(program) if d.enforcementLevel == analyzer_pb2.MANDATORY]
    assert [d.policyName for d in found] == ["odcr-aws-assisted-no-placement-group"]
    assert "own_reservations" in found[0].message


def test_an_unknown_value_is_an_advisory_beside_the_violations_of_the_same_rule(pack):
    pack.configure({})
    volumes = [{"ebs": {"encrypted": UNKNOWN}}, {"deviceName": "/dev/sdb", "ebs": {}}]
    found = pack.analyze([template(blockDeviceMappings=volumes), *EFA_NETWORK])
    levels = sorted(d.enforcementLevel for d in found if d.policyName == "ebs-encrypted")
    assert levels == [analyzer_pb2.ADVISORY, analyzer_pb2.MANDATORY]


def test_a_configuration_for_a_rule_that_does_not_exist_is_refused_with_the_nearest(pack):
    with pytest.raises(grpc.RpcError) as refused:
        pack.configure({"ebs-encryption": {}}, levels={"ebs-encryption": analyzer_pb2.ADVISORY})
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "did you mean 'ebs-encrypted'?" in refused.value.details()


def test_the_level_of_all_rules_at_once_is_no_rule_that_does_not_exist(pack):
    """The engine passes it on together with the levels that it derived from it."""
    pack.configure({}, levels={"all": analyzer_pb2.DISABLED})
