"""From a plan to the component that builds it."""

from typing import get_args, get_type_hints

import pytest

from components.architectures.build import ARCHITECTURES, build
from components.parallelcluster.plan import ParallelClusterPlan
from tests.support.batch_plans import network_stack_plan
from tests.support.batch_plans import plan as batch_plan
from tests.support.eks_plans import eks_plan
from tests.support.parallelcluster_plans import plan as parallelcluster_plan


def test_every_plan_has_a_component():
    assert set(get_args(get_type_hints(build)["plan"])) == ARCHITECTURES.keys()
    assert ParallelClusterPlan in ARCHITECTURES


@pytest.mark.parametrize(
    ("plan", "component", "named"),
    [
        (eks_plan(name="other"), "EksArchitecture", ("other-eks", "name")),
        (
            parallelcluster_plan(name="other"),
            "ParallelClusterArchitecture",
            ("other-deployment", "templateBody"),
        ),
        (batch_plan(name="other"), "BatchArchitecture", ("other-g4dn-queue", "name")),
        (network_stack_plan(name="other"), "NetworkArchitecture", ("other-network-vpc", "tags")),
    ],
)
def test_the_stack_is_named_after_its_cluster(deploy, plan, component, named):
    cloud = deploy(lambda: build(plan))
    (architecture,) = (made for made in cloud.components() if made.type.endswith(component))
    assert architecture.name == "other"
    resource, property_ = named
    assert "other" in str(cloud.one(resource).inputs[property_])
