"""Add-ons and the drain of nodes, as parts of a whole cluster."""

from dataclasses import replace

import pytest

from tests.support.eks import P5, SCHEDULED, eks_plan
from trainyard.components.eks.plan import AddonPlan, PodIdentityPlan
from trainyard.components.eks.resources import EksArchitecture

AGENT = AddonPlan(
    name="eks-pod-identity-agent",
    version="v1.3.10-eksbuild.3",
    configuration=None,
    identity=None,
)
DRIVER = AddonPlan(
    name="aws-fsx-csi-driver",
    version="v1.9.0-eksbuild.1",
    configuration=None,
    identity=PodIdentityPlan(
        namespace="kube-system",
        service_account="fsx-csi-controller-sa",
        policy="AmazonFSxFullAccess",
        through="oidc",
    ),
)
HOOK = "aws:autoscaling/lifecycleHook:LifecycleHook"
DRAIN = "p5-cb-services-termination-daemon-set"


@pytest.fixture
def p5_cb(deploy):
    def run(*groups, **changes):
        plan = eks_plan(*groups, **changes)
        return deploy(lambda: EksArchitecture(plan.name, plan))

    return run


def before(cloud, name):
    urns = cloud.one(name).dependencies
    return {made.name for made in cloud.registered if made.urn in urns}


def test_addons_run_on_the_system_nodes(p5_cb):
    """EKS-06."""
    cloud = p5_cb(addons=(AGENT, DRIVER))
    waits_for = before(cloud, f"p5-cb-services-addons-{DRIVER.name}")
    assert "p5-cb-system-node-group" in waits_for
    assert "p5-cb-p5-nodes" not in waits_for


def test_the_agent_comes_with_the_control_plane_before_any_node(p5_cb):
    """EKS-06: it is available to pods from their start."""
    waits_for = before(p5_cb(addons=(AGENT, DRIVER)), f"p5-cb-services-addons-{AGENT.name}")
    assert "p5-cb-eks" in waits_for
    assert not {"p5-cb-system-node-group", "p5-cb-p5-nodes"} & waits_for


def test_the_oidc_provider_is_the_clusters(p5_cb):
    """EKS-05."""
    role = p5_cb(addons=(DRIVER,)).one("p5-cb-services-addons-aws-fsx-csi-driver-identity-role")
    assert "oidc-provider/p5-cb" in role.inputs["assumeRolePolicy"]


def test_nothing_is_drained_that_the_plan_does_not_name(p5_cb):
    cloud = p5_cb()
    assert cloud.of_type(HOOK) == []
    assert not any(made.name == DRAIN for made in cloud.registered)


def test_a_self_managed_group_waits_with_each_termination_for_the_drain(p5_cb):
    """EKN-16."""
    cloud = p5_cb(self_managed_addons={"termination": ("p5",)})
    (hook,) = cloud.of_type(HOOK)
    assert hook.inputs["autoscalingGroupName"] == "p5-cb-p5-nodes"
    # A hook without a component that drains would only be a delay.
    assert DRAIN in before(cloud, hook.name)
    assert "p5-cb-p5-nodes" in before(cloud, DRAIN)


def test_a_block_that_has_not_begun_holds_the_handler_not_up(p5_cb):
    cloud = p5_cb(replace(P5, schedule=SCHEDULED), self_managed_addons={"termination": ("p5",)})
    assert "p5-cb-p5-nodes" not in before(cloud, DRAIN)
