"""A stack file and a matching account, and the additional facts of the preflight."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from tests.account.conftest import account, block, configure, facts, reader, server

from trainyard.components.account.facts import PreflightFacts, TypeFacts, VersionFacts  # isort: skip
from trainyard.components.compute.node_pool_plan import NodePoolPlan  # isort: skip
from tests.support.stack_files import plan_from  # isort: skip
from tests.support.kubernetes import DEFAULT

__all__ = ["account", "block", "configure", "facts", "reader", "server"]


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
