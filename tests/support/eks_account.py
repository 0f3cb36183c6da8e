"""Fixtures: an EKS stack file and a matching account, in which tests change one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.support.account_fixtures import account, chicago, reader, server
from tests.support.eks import (
    PRIVATE,
    PUBLIC,
    RESERVATION,
    changed,
    config,
)
from tests.support.kubernetes import DEFAULT
from tests.support.stack_files import plan_from
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.compute.facts import TypeFacts
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.stack import StackConfig
from trainyard.components.eks.facts import VersionFacts
from trainyard.components.network.facts import SubnetFacts, VpcFacts

__all__ = ["account", "chicago", "reader", "server"]

ACCOUNT = "123456789012"
VPC = changed()["network"]["vpc_id"]
BLOCK = RESERVATION
STARTED = datetime(2026, 11, 20, 11, 30, tzinfo=UTC)
ENDS = datetime(2026, 11, 27, 11, 30, tzinfo=UTC)
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def subnet(subnet_id: str, *, public: bool = False, **changes: Any) -> SubnetFacts:
    letter = subnet_id[-2]
    fields: dict[str, Any] = {
        "subnet_id": subnet_id,
        "vpc_id": VPC,
        "availability_zone": f"us-west-2{letter}",
        "zone_id": {"a": "usw2-az1", "b": "usw2-az2"}[letter],
        "cidr": IPv4Network("10.0.0.0/20"),
        "free_addresses": 4000,
        "default_route": "internet-gateway" if public else "nat",
    }
    return SubnetFacts(**(fields | changes))


@pytest.fixture
def block() -> ReservationFacts:
    return ReservationFacts(
        reservation_id=BLOCK,
        kind="capacity-block",
        instance_type="p5.48xlarge",
        availability_zone="us-west-2b",
        zone_id="usw2-az2",
        state="active",
        instance_count=2,
        owner_id=ACCOUNT,
        platform="Linux/UNIX",
        placement_group=None,
        starts_at=STARTED,
        ends_at=ENDS,
    )


@pytest.fixture
def facts(block: ReservationFacts) -> AccountFacts:
    return AccountFacts(
        account_id=ACCOUNT,
        vpc=VpcFacts(
            vpc_id=VPC, dns_support=True, dns_hostnames=True, endpoint_services=frozenset()
        ),
        subnets={i: subnet(i, public=True) for i in PUBLIC} | {i: subnet(i) for i in PRIVATE},
        reservations={BLOCK: block},
        offered_zone_ids={"p5.48xlarge": frozenset({"usw2-az2"})},
    )


@pytest.fixture
def configure() -> Callable[..., StackConfig]:
    """Return the stack file's configuration, changed at dotted keys."""

    def _configure(**changes: Any) -> StackConfig:
        return config(changed(**changes))

    return _configure


@pytest.fixture
def with_subnet(facts: AccountFacts) -> Callable[..., AccountFacts]:
    """Return the account with one subnet changed."""

    def _with_subnet(subnet_id: str, **changes: Any) -> AccountFacts:
        changed = replace(facts.subnets[subnet_id], **changes)
        return replace(facts, subnets={**facts.subnets, subnet_id: changed})

    return _with_subnet


@pytest.fixture
def more() -> PreflightFacts:
    """The answers of an account that has everything."""
    return PreflightFacts(
        caller_arn="arn:aws:iam::123456789012:user/me",
        instance_types={
            "p5.48xlarge": TypeFacts(
                efa_interfaces=32,
                network_cards=32,
                placement_strategies=frozenset({"cluster", "spread"}),
                usage_classes=frozenset({"on-demand", "spot", "capacity-block"}),
            )
        },
        quotas_vcpus={"L-1216C47A": 64, "L-417A185B": 384},
        kubernetes_versions={
            DEFAULT: VersionFacts(
                status="STANDARD_SUPPORT", standard_support_ends=date(2027, 3, 27)
            )
        },
    )


@pytest.fixture
def launched() -> Callable[..., dict[str, NodePoolPlan]]:
    """Return the launches of a stack file, by their key."""

    def _launched(raw: object) -> dict[str, NodePoolPlan]:
        return {each.key: each for each in plan_from(raw).node_pools}

    return _launched
