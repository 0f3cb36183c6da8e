"""The pack as the engine runs it: started in its folder, asked over gRPC, on real messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pulumi.runtime.proto import analyzer_pb2

from policies.pack import POLICIES
from tests.support.policy import UNKNOWN
from tests.support.policy_process import Pack, running_pack
from tests.support.policy_programs import EFA_NETWORK, EXAMPLES, template

NAMES = [policy.name for policy in POLICIES]
ADVISORY = {"shared-storage-protected"}
"""Rules that a user breaks on purpose, on the way to remove what they guard."""


def level(name: str) -> int:
    return analyzer_pb2.ADVISORY if name in ADVISORY else analyzer_pb2.MANDATORY


@pytest.fixture(scope="module")
def pack() -> Iterator[Pack]:
    with running_pack() as running:
        yield running


def test_the_pack_serves_every_policy_with_its_level_and_severity(pack):
    info = pack.info()
    assert info.name == "trainyard"
    assert [policy.name for policy in info.policies] == NAMES
    levels = {policy.name: policy.enforcementLevel for policy in info.policies}
    assert levels == {name: level(name) for name in NAMES}
    assert all(p.severity and p.remediation_steps and p.url for p in info.policies)


@pytest.mark.parametrize("name", NAMES)
def test_a_violating_program_is_refused(pack, name):
    pack.configure({name: EXAMPLES[name].config})
    found = pack.analyze(EXAMPLES[name].violating)
    (diagnostic,) = [d for d in found if d.policyName == name]
    assert diagnostic.enforcementLevel == level(name)
    assert "; " in diagnostic.message


@pytest.mark.parametrize("name", NAMES)
def test_a_clean_program_passes_without_a_word(pack, name):
    pack.configure({policy: example.config for policy, example in EXAMPLES.items()})
    assert list(pack.analyze(EXAMPLES[name].clean)) == []


def test_without_configuration_an_own_reservation_in_its_group_is_refused_too(pack):
    """The strictest reading is the one for programs that nobody described."""
    name = "odcr-aws-assisted-no-placement-group"
    pack.configure({})
    (diagnostic,) = pack.analyze(EXAMPLES[name].clean)
    assert "own_reservations" in diagnostic.message


def test_an_unknown_value_is_an_advisory_beside_the_violations_of_the_same_rule(pack):
    pack.configure({})
    volumes = [{"ebs": {"encrypted": UNKNOWN}}, {"deviceName": "/dev/sdb", "ebs": {}}]
    found = pack.analyze([template(blockDeviceMappings=volumes), *EFA_NETWORK])
    levels = sorted((d.policyName, d.enforcementLevel) for d in found)
    assert levels == [
        ("ebs-encrypted", analyzer_pb2.ADVISORY),
        ("ebs-encrypted", analyzer_pb2.MANDATORY),
    ]
