"""Flow logs, where a platform requires them."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import vpc
from trainyard.policies.resources.types import FLOW_LOG
from trainyard.policies.rules.security.vpc_flow_logs import POLICY


def log(network):
    return Declared(FLOW_LOG, "log", {"vpcId": UNKNOWN}, {"vpcId": [network]})


CONFIG = {"required": True}
VIOLATING = ((vpc(),), (vpc(), vpc("other"), log("other")))
CLEAN = ((vpc(), log("vpc")),)


@pytest.mark.parametrize("program", VIOLATING, ids=["none", "of-another"])
def test_fails(program):
    (message,) = check(POLICY, *program, config=CONFIG).messages
    assert message.startswith("vpc: it has no flow logs")


def test_passes():
    found = check(POLICY, *CLEAN[0], config=CONFIG)
    assert (found.messages, found.undecided) == ([], [])


def test_nothing_is_said_where_nobody_requires_them():
    assert check(POLICY, vpc()).messages == []
