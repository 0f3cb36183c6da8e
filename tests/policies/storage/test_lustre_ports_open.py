"""The ports of Lustre, in and out of the file system's group."""

import pytest

from policies.resource_types import LUSTRE_FILE_SYSTEM, SECURITY_GROUP, SECURITY_GROUP_RULE
from policies.rules.storage.lustre_ports_open import POLICY
from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import LUSTRE_GROUP, LUSTRE_NETWORK, lustre, lustre_rule

OLDER_RULE = Declared(
    SECURITY_GROUP_RULE,
    "older",
    {"securityGroupId": UNKNOWN, "type": "ingress"},
    {"securityGroupId": ["lustre-servers"]},
)
INGRESS = (lustre_rule("ingress", 988, 988), lustre_rule("ingress", 1018, 1023))


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        pytest.param((), "ingress 988, ingress 1018-1023, egress 988, egress 1018-1023", id="none"),
        pytest.param(INGRESS, "egress 988, egress 1018-1023", id="one-way"),
        pytest.param(
            (*INGRESS, lustre_rule("egress", 988, 1022)), "egress 1018-1023", id="too-few"
        ),
        pytest.param(
            (*INGRESS, lustre_rule("egress", 0, 65535, "udp")), "egress 988", id="other-protocol"
        ),
    ],
)
def test_fails(rules, missing):
    (message,) = check(POLICY, lustre(), LUSTRE_GROUP, *rules).messages
    assert f"pass no TCP {missing}" in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param((lustre(), *LUSTRE_NETWORK), id="ports"),
        pytest.param(
            (
                lustre(),
                LUSTRE_GROUP,
                lustre_rule("ingress", -1, -1, "-1"),
                lustre_rule("egress", -1, -1, "-1"),
            ),
            id="everything",
        ),
        pytest.param(
            (Declared(LUSTRE_FILE_SYSTEM, "fs", {"securityGroupIds": ["sg-elsewhere"]}),),
            id="made-elsewhere",
        ),
        pytest.param(
            (
                lustre(),
                Declared(SECURITY_GROUP, "lustre-servers", {"ingress": [{"protocol": "tcp"}]}),
            ),
            id="inline-rules",
        ),
        pytest.param((lustre(), LUSTRE_GROUP, OLDER_RULE), id="older-rules"),
    ],
)
def test_passes_or_says_nothing(program):
    assert check(POLICY, *program).messages == []


def test_no_groups_at_all_are_the_default_group_which_is_not_seen():
    system = Declared(LUSTRE_FILE_SYSTEM, "fs", {"storageCapacity": 1200})
    assert check(POLICY, system).messages == []
