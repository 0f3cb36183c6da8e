"""The dependencies that order upgrades and, in reverse, deletions.

The engine updates a resource after its dependencies, and deletes it before them.
"""

from dataclasses import replace

import pytest

from tests.support.eks import P5, SYSTEM, eks_plan
from tests.support.kubernetes import DEFAULT, PREVIOUS
from trainyard.components.eks.resources import EksArchitecture

MANAGED = replace(P5, name="gpu", management="managed", taints=())
CONTROL_PLANE = "p5-cb-eks"
"""The package's component: control plane, kube-proxy and VPC CNI are its children."""
NODES = ("p5-cb-system-node-group", "p5-cb-gpu-node-group", "p5-cb-p5-nodes")


@pytest.fixture
def waits_for(deploy):
    """Return a function that names all direct and indirect dependencies of a resource."""
    plan = eks_plan(MANAGED, P5)
    cloud = deploy(lambda: EksArchitecture(plan.name, plan))
    by_urn = {made.urn: made for made in cloud.registered}

    def named(name):
        found, open_ = set(), [cloud.one(name)]
        while open_:
            made = open_.pop()
            for urn in made.dependencies:
                if urn in by_urn and by_urn[urn].name not in found:
                    found.add(by_urn[urn].name)
                    open_.append(by_urn[urn])
        return found

    return named


@pytest.fixture
def cloud_of(deploy):
    def run(version):
        plan = eks_plan(MANAGED, kubernetes_version=version)
        return deploy(lambda: EksArchitecture(plan.name, plan))

    return run


@pytest.mark.parametrize("nodes", NODES)
def test_nodes_follow_the_control_plane_and_its_addons(waits_for, nodes):
    """EKX-02: upgraded after them, deleted before them."""
    assert CONTROL_PLANE in waits_for(nodes)


def test_coredns_comes_after_the_system_nodes_and_goes_before_them(waits_for):
    assert {CONTROL_PLANE, "p5-cb-system-node-group"} <= waits_for("p5-cb-coredns-addon")


@pytest.mark.parametrize("nodes", ["p5-cb-gpu-node-group", "p5-cb-p5-nodes"])
def test_nodes_are_gone_before_the_rules_and_the_group_of_their_interfaces(waits_for, nodes):
    """Pain 6: a remaining interface blocks deleting its security group, and so the VPC."""
    group = "p5-cb-efa-group"
    assert {"p5-cb-efa-ingress-self", "p5-cb-efa-egress-self", group} <= waits_for(nodes)


def test_nodes_are_gone_before_what_lets_them_in(waits_for):
    """A node that loses access while it drains leaves its pods and their volumes behind."""
    assert "p5-cb-p5-access" in waits_for("p5-cb-p5-nodes")
    assert CONTROL_PLANE in waits_for("p5-cb-p5-access")


@pytest.mark.parametrize("version", [PREVIOUS, DEFAULT])
def test_control_plane_and_managed_nodes_have_one_version(cloud_of, version):
    cloud = cloud_of(version)
    assert cloud.one(CONTROL_PLANE).inputs["version"] == version
    for made in cloud.of_type("aws:eks/nodeGroup:NodeGroup"):
        assert made.inputs["version"] == version
        assert not {"version", "releaseVersion", "launchTemplate"} & set(made.ignore_changes)


def test_a_managed_group_takes_its_image_by_its_release(cloud_of):
    """EKN-04: so an upgrade is an update in place."""
    group = cloud_of(DEFAULT).one("p5-cb-system-node-group")
    assert group.inputs["releaseVersion"] == SYSTEM.ami_release_version
