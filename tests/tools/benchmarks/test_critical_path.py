"""No resource of a cold `up` waits without need: dependency graphs of every stack, no timing."""

import functools

import pytest

from tools.benchmarks import cold_up
from tools.benchmarks.cold_up import VARIANTS, cases, stack_graph, unavoidable_chain

LUSTRE, OPEN_ZFS = "eks-g4dn with Lustre", "pc-trn1 with OpenZFS"
CONTROL_PLANE = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"


@functools.cache
def graph(case):
    stack, changes = VARIANTS.get(case, (case, {}))
    return tuple(stack_graph(stack, changes=changes))


@functools.cache
def waits(case):
    """Return the steps by URN, and a function that returns all direct and indirect dependencies."""
    steps = {step.urn: step for step in graph(case)}

    @functools.cache
    def before(urn):
        direct = (steps[urn].waits_for | steps[urn].ends_with) & steps.keys()
        return direct.union(*map(before, direct))

    return steps, before


def named(case, type_, part=""):
    """Return the steps of a type whose name, or whose add-on's name, contains that part."""
    found = [
        step
        for step in graph(case)
        if step.type == type_ and part in step.inputs.get("addonName", step.name)
    ]
    assert found, f"{case} has no {type_} {part}"
    return found


@pytest.mark.parametrize("case", cases())
def test_the_longest_chain_is_within_a_tenth_of_the_unavoidable_one(case):
    path = cold_up.of_steps(case, graph(case))
    assert 1.0 <= path.ratio <= cold_up.BUDGET, [
        f"{each.step.name}: {each.step.seconds:g} s" for each in path.times.critical_path
    ]


ADDON, LAUNCH_TEMPLATE = "aws:eks/addon:Addon", "aws:ec2/launchTemplate:LaunchTemplate"
APART = [
    ("eks-g4dn", (CONTROL_PLANE, ""), (NAT_GATEWAY, "")),
    ("eks-g4dn", (CONTROL_PLANE, ""), ("aws:ec2/vpcEndpoint:VpcEndpoint", "")),
    ("eks-g4dn", (CONTROL_PLANE, ""), ("aws:ec2/securityGroup:SecurityGroup", "efa")),
    ("eks-g4dn", ("aws:ec2/placementGroup:PlacementGroup", ""), (CONTROL_PLANE, "")),
    ("eks-g4dn", ("aws:iam/role:Role", "g4dn-g4dn"), (CONTROL_PLANE, "")),
    ("eks-g4dn", (NODE_GROUP, "g4dn-g4dn"), (NODE_GROUP, "system")),
    ("eks-g4dn", (ADDON, "eks-pod-identity-agent"), (NODE_GROUP, "system")),
    ("eks-g4dn", (ADDON, "coredns"), (NODE_GROUP, "g4dn-g4dn")),
    ("eks-g4dn", (ADDON, "coredns"), (ADDON, "eks-pod-identity-agent")),
    (LUSTRE, ("aws:fsx/lustreFileSystem:LustreFileSystem", ""), (CONTROL_PLANE, "")),
    (LUSTRE, ("aws:fsx/lustreFileSystem:LustreFileSystem", ""), (NAT_GATEWAY, "")),
    (LUSTRE, (NODE_GROUP, ""), ("aws:fsx/lustreFileSystem:LustreFileSystem", "")),
    (LUSTRE, (ADDON, "aws-fsx-csi-driver"), ("aws:fsx/lustreFileSystem:LustreFileSystem", "")),
    (LUSTRE, (ADDON, "aws-fsx-csi-driver"), (ADDON, "coredns")),
    ("p5-cb", ("aws:autoscaling/group:Group", ""), (NODE_GROUP, "system")),
    ("p5-cb", ("aws:iam/instanceProfile:InstanceProfile", ""), (CONTROL_PLANE, "")),
    ("eks-trn1", ("kubernetes:apps/v1:DaemonSet", "neuron"), (ADDON, "coredns")),
    ("batch-trn1", (LAUNCH_TEMPLATE, ""), (NAT_GATEWAY, "")),
    ("batch-trn1", ("aws:iam/role:Role", ""), (NAT_GATEWAY, "")),
    (OPEN_ZFS, ("aws:fsx/openZfsFileSystem:OpenZfsFileSystem", ""), (NAT_GATEWAY, "")),
]
"""A stack, a resource, and one on which it must not depend: type and part of the name."""


@pytest.mark.parametrize(("case", "made", "other"), APART)
def test_one_does_not_wait_for_the_other(case, made, other):
    _, before = waits(case)
    others = {step.urn for step in named(case, *other)}
    for step in named(case, *made):
        assert not before(step.urn) & others


NEEDED = [
    ("eks-g4dn", (NODE_GROUP, ""), (CONTROL_PLANE, "")),
    ("eks-g4dn", (NODE_GROUP, ""), (NAT_GATEWAY, "")),
    ("eks-g4dn", (NODE_GROUP, ""), (ADDON, "vpc-cni")),
    ("eks-g4dn", (ADDON, "coredns"), (NODE_GROUP, "system")),
    (LUSTRE, (ADDON, "aws-fsx-csi-driver"), (ADDON, "eks-pod-identity-agent")),
    ("p5-cb", ("aws:autoscaling/group:Group", ""), ("pulumi-python:dynamic/aws-auth:Entry", "")),
    ("pc-trn1", ("aws:cloudformation/stack:Stack", ""), (NAT_GATEWAY, "")),
    ("batch-trn1", ("aws:batch/computeEnvironment:ComputeEnvironment", ""), (NAT_GATEWAY, "")),
]


@pytest.mark.parametrize(("case", "made", "other"), NEEDED)
def test_one_waits_for_what_it_needs(case, made, other):
    _, before = waits(case)
    others = {step.urn for step in named(case, *other)}
    for step in named(case, *made):
        assert before(step.urn) & others


def test_the_unavoidable_chain_has_the_slowest_of_each_kind():
    steps = graph("eks-g4dn")
    links = [step.type for step in unavoidable_chain(steps).links]
    assert links[0] == "aws:ec2/vpc:Vpc"
    assert links[-2:] == [CONTROL_PLANE, NODE_GROUP]
    assert NAT_GATEWAY not in links


def test_what_belongs_to_no_architecture_has_no_chain():
    roles = [step for step in graph("eks-g4dn") if step.type.startswith("aws:iam/")]
    with pytest.raises(ValueError, match="no control plane"):
        unavoidable_chain(roles)
