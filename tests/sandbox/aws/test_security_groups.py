"""Security groups cannot be deleted while they are in use, so that leaks are visible as in AWS."""

from __future__ import annotations

from tests.support.sandbox_aws import PRIVATE_B, STANDARD_IMAGE, Account, refused


def test_a_group_of_a_running_instance_is_kept_until_the_instance_is_gone(account: Account):
    """Nodes are deleted before the groups of their interfaces."""
    group = account.group()
    account.ec2.run_instances(
        ImageId=STANDARD_IMAGE,
        InstanceType="c5.2xlarge",
        MinCount=1,
        MaxCount=1,
        SubnetId=PRIVATE_B,
        SecurityGroupIds=[group],
    )
    with refused("DependencyViolation", group):
        account.ec2.delete_security_group(GroupId=group)
    (instance,) = account.instances()
    account.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    account.ec2.delete_security_group(GroupId=group)


def test_a_group_that_a_rule_of_another_names_is_kept_until_the_rule_is_gone(account: Account):
    named, naming = account.group("named"), account.group("naming")
    pair = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": named}]}]
    account.ec2.authorize_security_group_ingress(GroupId=naming, IpPermissions=pair)
    with refused("DependencyViolation", named):
        account.ec2.delete_security_group(GroupId=named)
    account.ec2.revoke_security_group_ingress(GroupId=naming, IpPermissions=pair)
    account.ec2.delete_security_group(GroupId=named)


def test_a_groups_own_rules_do_not_keep_it(account: Account):
    group = account.group()
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    account.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    account.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    account.ec2.delete_security_group(GroupId=group)


def test_a_cluster_leaves_its_group_where_an_interface_still_has_it(account: Account):
    """This reveals a node that outlives its cluster."""
    vpc = account.cluster()["resourcesVpcConfig"]
    group = vpc["clusterSecurityGroupId"]
    account.ec2.create_network_interface(SubnetId=PRIVATE_B, Groups=[group])
    account.eks.delete_cluster(name="c")
    assert account.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
