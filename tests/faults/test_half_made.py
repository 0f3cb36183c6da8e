"""Creations that fail half-way: the engine keeps the object, and the next attempt completes it."""

from __future__ import annotations

import pytest

from tests.support.faults.account import Faulty
from tests.support.provider_plugin import RefusedError

PUBLIC = {"mapPublicIpOnLaunch": True}
HALVES: tuple[tuple[str, str, dict[str, bool]], ...] = (
    ("aws:ec2/vpc:Vpc", "ec2:ModifyVpcAttribute", {}),
    ("aws:ec2/subnet:Subnet", "ec2:ModifySubnetAttribute", PUBLIC),
    ("aws:ec2/internetGateway:InternetGateway", "ec2:AttachInternetGateway", {}),
    ("aws:ec2/securityGroup:SecurityGroup", "ec2:RevokeSecurityGroupEgress", {}),
    ("aws:iam/instanceProfile:InstanceProfile", "iam:AddRoleToInstanceProfile", {}),
    ("aws:cloudwatch/logGroup:LogGroup", "logs:PutRetentionPolicy", {}),
    ("aws:eks/nodeGroup:NodeGroup", "eks:DescribeNodegroup", {}),
    ("aws:ec2/natGateway:NatGateway", "ec2:DescribeNatGateways", {}),
)
"""Types, the call that follows the creation, and inputs that require it."""


@pytest.mark.parametrize(("token", "call", "more"), HALVES, ids=[token for token, *_ in HALVES])
def test_what_exists_keeps_its_id_where_the_rest_fails(
    faulty: Faulty, token: str, call: str, more: dict[str, bool]
) -> None:
    faulty.use(f"call: '{call}', happens: credentials-expired, times: always")
    with pytest.raises(RefusedError):
        faulty.plugin.create(token, {**faulty.cases[token].inputs, **more}, name="half")
    kept = faulty.plugin.kept()
    assert kept is not None, "the engine would forget it, and destroy leave it"
    faulty.use()
    found = faulty.plugin.read(token, kept)
    assert found is not None
    faulty.plugin.delete(token, found)
    assert faulty.plugin.read(token, found) is None


GROUP = "aws:autoscaling/group:Group"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("insufficient-capacity", "We currently do not have sufficient capacity"),
        ("quota-exceeded", "more vCPU capacity than your current vCPU limit"),
    ],
)
def test_a_launch_that_auto_scaling_makes_fails_as_an_activity(
    faulty: Faulty, kind: str, code: str
) -> None:
    """Auto Scaling calls RunInstances; the group has the reason, remains, and grows later."""
    faulty.use(f"call: 'ec2:RunInstances', happens: {kind}, times: always")
    inputs = {**faulty.cases[GROUP].inputs, "desiredCapacity": 1}
    with pytest.raises(RefusedError, match="capacity satisfied: scaling activity") as it:
        faulty.plugin.create(GROUP, inputs, name=kind)
    assert code in str(it.value)
    kept = faulty.plugin.kept()
    assert kept is not None
    faulty.use()
    faulty.plugin.update(GROUP, kept, {**inputs, "name": kept.identifier, "maxSize": 3})
    assert len(faulty.account.described_group(kept.identifier)["Instances"]) == 1
    faulty.plugin.delete(GROUP, kept)


@pytest.mark.parametrize(
    ("token", "call"),
    [
        ("aws:eks/cluster:Cluster", "eks:CreateCluster"),
        (GROUP, "autoscaling:CreateAutoScalingGroup"),
    ],
)
def test_a_role_that_is_too_new_is_waited_for(faulty: Faulty, token: str, call: str) -> None:
    faulty.use(f"call: '{call}', happens: role-not-usable-yet, times: 3")
    made = faulty.plugin.create(token, faulty.cases[token].inputs, name="late")
    assert faulty.happened() == [3]
    faulty.plugin.delete(token, made)
