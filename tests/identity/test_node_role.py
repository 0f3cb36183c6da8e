"""The node role: its trust policy and its policies, in every partition."""

import json

import pytest

from trainyard.components.identity.node_role import NodeRole, NodeRoleArgs

ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INLINE = "aws:iam/rolePolicy:RolePolicy"


def node_role(*extra, addon_policies=(), region="us-west-2"):
    args = NodeRoleArgs(
        extra_policies=extra,
        addon_policies=addon_policies,
        cluster_name="p5-cb",
        region=region,
        tags={"team": "vision"},
    )
    return NodeRole("p5-cb-p5", args)


def attached(cloud):
    return {a.inputs["policyArn"].rpartition("policy/")[2] for a in cloud.of_type(ATTACHMENT)}


def test_the_role_has_what_every_node_needs(deploy):
    """EKN-06, EKX-07; the EKS guide now requires PullOnly."""
    assert attached(deploy(node_role)) == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }


def test_policies_of_the_stack_file_are_added_with_their_path(deploy):
    """EKS-15: the add-on policies of a node group."""
    cloud = deploy(lambda: node_role("service-role/AmazonEBSCSIDriverPolicy"))
    assert cloud.one("p5-cb-p5-AmazonEBSCSIDriverPolicy").inputs["policyArn"] == (
        "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
    )


def test_a_policy_named_twice_is_attached_once(deploy):
    cloud = deploy(lambda: node_role("AmazonSSMManagedInstanceCore"))
    assert len(cloud.of_type(ATTACHMENT)) == 4


@pytest.mark.parametrize(
    ("region", "partition", "dns_suffix"),
    [
        pytest.param("us-west-2", "aws", "amazonaws.com", id="commercial"),
        pytest.param("cn-north-1", "aws-cn", "amazonaws.com.cn", id="china"),
        pytest.param("us-gov-west-1", "aws-us-gov", "amazonaws.com", id="govcloud"),
        pytest.param("us-iso-east-1", "aws-iso", "c2s.ic.gov", id="isolated"),
    ],
)
def test_trust_and_policies_follow_the_partition(deploy, region, partition, dns_suffix):
    """EKN-06: the partition map of the old template."""
    cloud = deploy(lambda: node_role(region=region))
    (statement,) = json.loads(cloud.one("p5-cb-p5-role").inputs["assumeRolePolicy"])["Statement"]
    assert statement["Principal"] == {"Service": f"ec2.{dns_suffix}"}
    assert all(
        a.inputs["policyArn"].startswith(f"arn:{partition}:iam::aws:policy/")
        for a in cloud.of_type(ATTACHMENT)
    )


def test_nothing_is_granted_in_the_role_itself(deploy):
    """The role would manage its policies exclusively, and remove those of others."""
    role = deploy(node_role).one("p5-cb-p5-role")
    assert not {"inlinePolicies", "managedPolicyArns"} & role.inputs.keys()
    assert role.inputs["tags"] == {"team": "vision"}


def test_addon_policies_are_managed_where_aws_has_one_and_inline_where_not(deploy):
    """EKS-15, EKX-07: autoScaler, cloudWatch, ebs and fsx of the old manifests."""
    every = ("autoscaler", "cloudwatch", "ebs", "fsx")
    cloud = deploy(lambda: node_role(addon_policies=every))
    assert {"CloudWatchAgentServerPolicy", "AmazonEBSCSIDriverPolicyV2"} <= attached(cloud)
    inline = cloud.of_type(INLINE)
    assert [policy.name for policy in inline] == ["p5-cb-p5-autoscaler", "p5-cb-p5-fsx"]
    assert {policy.inputs["role"] for policy in inline} == {"p5-cb-p5-role"}
    assert "k8s.io/cluster-autoscaler/p5-cb" in inline[0].inputs["policy"]


def test_inline_policies_follow_the_partition(deploy):
    cloud = deploy(lambda: node_role(addon_policies=("fsx",), region="cn-north-1"))
    assert "arn:aws-cn:iam::*" in cloud.one("p5-cb-p5-fsx").inputs["policy"]


def test_without_addon_policies_there_is_no_inline_policy(deploy):
    assert not deploy(node_role).of_type(INLINE)


def test_the_arn_waits_for_every_policy(deploy):
    """A node that starts without its policies never joins."""
    arns = []

    def program():
        node_role().arn.apply(arns.append)

    deploy(program)
    assert arns == ["arn:aws:iam::123456789012:role/p5-cb-p5-role"]


def test_the_component_is_closed(deploy):
    cloud = deploy(node_role)
    assert cloud.one("p5-cb-p5-role").parent in cloud.closed
