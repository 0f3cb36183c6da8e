"""EC2 describes attributes as they were given, so that a refresh finds no difference."""

from __future__ import annotations

from tests.support.sandbox_aws import Account


def test_a_template_shows_its_own_tags_apart_from_those_of_its_instances(account: Account) -> None:
    data = {
        "InstanceType": "c5.large",
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "i", "Value": "1"}]}],
    }
    template_id = account.ec2.create_launch_template(
        LaunchTemplateName="t",
        LaunchTemplateData=data,
        TagSpecifications=[
            {"ResourceType": "launch-template", "Tags": [{"Key": "t", "Value": "1"}]}
        ],
    )["LaunchTemplate"]["LaunchTemplateId"]
    (version,) = account.ec2.describe_launch_template_versions(LaunchTemplateId=template_id)[
        "LaunchTemplateVersions"
    ]
    assert version["LaunchTemplateData"] == data
    account.ec2.create_tags(Resources=[template_id], Tags=[{"Key": "t", "Value": "2"}])
    (template,) = account.ec2.describe_launch_templates()["LaunchTemplates"]
    assert template["Tags"] == [{"Key": "t", "Value": "2"}]


def test_a_template_without_tags_of_instances_shows_none(account: Account) -> None:
    template_id = account.ec2.create_launch_template(
        LaunchTemplateName="t",
        LaunchTemplateData={"InstanceType": "c5.large"},
        TagSpecifications=[
            {"ResourceType": "launch-template", "Tags": [{"Key": "t", "Value": "1"}]}
        ],
    )["LaunchTemplate"]["LaunchTemplateId"]
    (version,) = account.ec2.describe_launch_template_versions(LaunchTemplateId=template_id)[
        "LaunchTemplateVersions"
    ]
    assert version["LaunchTemplateData"] == {"InstanceType": "c5.large"}


def test_a_rule_shows_its_description_whatever_its_peer_is(account: Account) -> None:
    # A5: the rules of the EFA group reference the group itself
    group = account.group()
    account.ec2.authorize_security_group_egress(
        GroupId=group,
        IpPermissions=[
            {
                "IpProtocol": "-1",
                "UserIdGroupPairs": [{"GroupId": group, "Description": "EFA"}],
            },
            {
                "IpProtocol": "tcp",
                "FromPort": 443,
                "ToPort": 443,
                "IpRanges": [{"CidrIp": "10.0.0.0/16", "Description": "API server"}],
            },
        ],
    )
    rules = account.ec2.describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [group]}]
    )["SecurityGroupRules"]
    assert {rule.get("Description") for rule in rules} == {None, "EFA", "API server"}
