"""The EFA security group: its rules, its tags, its closing."""

import pulumi

from trainyard.components.network.efa_security_group import EfaSecurityGroup, EfaSecurityGroupArgs

TAGS = {"team": "vision"}
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"


def efa_group(opts=None):
    args = EfaSecurityGroupArgs(vpc_id="vpc-0a1", tags=TAGS)
    return EfaSecurityGroup("p5-cb-efa", args, opts)


def test_members_reach_one_another_with_every_protocol_in_both_directions(deploy):
    """EKX-05, EKN-07, DF-04: self-referencing rules in both directions, by group id."""
    cloud = deploy(efa_group)
    itself = {
        "securityGroupId": "p5-cb-efa-group-id",
        "referencedSecurityGroupId": "p5-cb-efa-group-id",
        "ipProtocol": "-1",
    }
    for rule in (cloud.one("p5-cb-efa-ingress-self"), cloud.one("p5-cb-efa-egress-self")):
        assert itself.items() <= rule.inputs.items()
    assert [rule.name for rule in cloud.of_type(INGRESS)] == ["p5-cb-efa-ingress-self"]


def test_egress_to_the_internet_is_a_rule_of_its_own(deploy):
    """EKN-07: `0.0.0.0/0` does not include the group itself."""
    rule = deploy(efa_group).one("p5-cb-efa-egress-internet")
    assert rule.type == EGRESS
    assert rule.inputs["cidrIpv4"] == "0.0.0.0/0"
    assert "referencedSecurityGroupId" not in rule.inputs


def test_rules_stand_alone_so_that_the_group_owns_none(deploy):
    group = deploy(efa_group).one("p5-cb-efa-group")
    assert group.inputs["vpcId"] == "vpc-0a1"
    assert not {"ingress", "egress"} & group.inputs.keys()


def test_no_tag_claims_the_group_for_a_cluster(deploy):
    """Pain 13: two tagged groups on one interface break the load balancer controller."""
    group = deploy(efa_group).one("p5-cb-efa-group")
    assert group.inputs["tags"] == {"Name": "p5-cb-efa", "team": "vision"}


def test_every_rule_carries_the_tags(deploy):
    cloud = deploy(efa_group)
    rules = cloud.of_type(INGRESS) + cloud.of_type(EGRESS)
    assert all(rule.inputs["tags"] == TAGS for rule in rules)


def test_the_component_is_closed_and_its_children_stay_inside(deploy):
    def program():
        outer = pulumi.ComponentResource("trainyard:test:Outer", "outer")
        efa_group(pulumi.ResourceOptions(parent=outer))

    cloud = deploy(program)
    component = cloud.one("p5-cb-efa-group").parent
    assert component.endswith("trainyard:network:EfaSecurityGroup::p5-cb-efa")
    assert component in cloud.closed
