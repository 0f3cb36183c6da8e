"""One function plans every architecture."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tests.support import batch, network_stack
from tests.support.eks import changed
from tests.support.parallelcluster import RAW, raw_g4dn
from tests.support.stack_files import raw_config
from tests.support.tracked import ROOT
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.plan import EksPlan
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def planned(raw: object):
    config = load_stack_config(raw, stack_file="Pulumi.dev.yaml")
    return plan_stack(config, stack_file="Pulumi.dev.yaml", region="us-west-2", now=NOW)


@pytest.mark.parametrize(
    ("raw", "record"),
    [
        pytest.param(changed(), EksPlan, id="eks"),
        pytest.param(RAW, ParallelClusterPlan, id="parallelcluster"),
        pytest.param(batch.RAW, BatchPlan, id="batch"),
        pytest.param(network_stack.NETWORK_RAW, NetworkStackPlan, id="network"),
    ],
)
def test_a_stack_is_planned_by_its_architecture(raw, record) -> None:
    assert type(planned(raw)) is record


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(
            changed(architecture__node_groups__p5__instance_type="p5.48xlarg"),
            "node_groups.p5.instance_type",
            id="eks",
        ),
        pytest.param(
            raw_g4dn(architecture__head_node__instance_type="p5.48xlarg"),
            "head_node.instance_type",
            id="parallelcluster",
        ),
        pytest.param(
            raw_config(
                batch.RAW,
                architecture__compute_environments__g4dn__instance_type="p5.48xlarg",
            ),
            "compute_environments.g4dn.instance_type",
            id="batch",
        ),
        pytest.param(
            raw_config(network_stack.NETWORK_RAW, network=batch.RAW["network"]),
            "network.kind",
            id="network",
        ),
    ],
)
def test_what_a_planner_refuses_is_refused(raw, path: str) -> None:
    with pytest.raises(ConfigError, match=path):
        planned(raw)


def test_the_dispatch_imports_no_planner_by_itself() -> None:
    program = (
        "import sys\n"
        "import trainyard.components.architectures.plan_stack\n"
        "planners = 'eks_plan', 'parallelcluster_plan', 'batch_plan', 'network_stack_plan'\n"
        "print([m for m in sys.modules if m.endswith(planners)])\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
