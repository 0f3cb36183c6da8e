"""Properties of AWS's answers on which the AWS provider relies, call by call.

Sources: the files that the tests name, in `internal/service` of
https://github.com/hashicorp/terraform-provider-aws.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.sandbox_aws import PRIVATE_B, STANDARD_IMAGE, VPC, Account, refused


def test_a_cluster_that_asked_for_no_zonal_shift_shows_none(account: Account) -> None:
    """`eks/cluster_test.go`, TestAccEKSCluster_basic."""
    assert "zonalShiftConfig" not in account.cluster("plain")
    shifting = account.cluster("shifting", zonalShiftConfig={"enabled": True})
    assert shifting["zonalShiftConfig"] == {"enabled": True}


def test_a_group_of_reservations_has_a_configuration_and_no_query(account: Account) -> None:
    """`resourcegroups/group.go`, resourceGroupRead."""
    groups = account.client("resource-groups")
    arn = account.reservation_group(name="pool")
    for group in ({"Group": "pool"}, {"Group": arn}, {"GroupName": "pool"}):
        with refused("BadRequestException"):
            groups.get_group_query(**group)
    assert groups.get_group_configuration(Group="pool")["GroupConfiguration"]["Configuration"]


def test_a_group_by_query_has_no_configuration(account: Account) -> None:
    """`resourcegroups/group.go`, resourceGroupRead."""
    groups = account.client("resource-groups")
    tagged = {
        "ResourceTypeFilters": ["AWS::AllSupported"],
        "TagFilters": [{"Key": "a", "Values": ["b"]}],
    }
    query = {"Type": "TAG_FILTERS_1_0", "Query": json.dumps(tagged)}
    groups.create_group(Name="tagged", ResourceQuery=query)
    with refused("BadRequestException"):
        groups.get_group_configuration(Group="tagged")
    assert groups.get_group_query(Group="tagged")["GroupQuery"]["ResourceQuery"] == query


def test_an_auto_scaling_group_shows_the_default_preference_for_reservations(
    account: Account,
) -> None:
    """`autoscaling/group_test.go`, TestAccAutoScalingGroup_basic."""
    template = account.template("t", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    group = account.autoscaling_group("g", template)
    assert group["CapacityReservationSpecification"] == {"CapacityReservationPreference": "default"}
    asked = {"CapacityReservationPreference": "capacity-reservations-only"}
    group = account.autoscaling_group("h", template, CapacityReservationSpecification=asked)
    assert group["CapacityReservationSpecification"] == asked


def test_every_open_zfs_volume_has_the_quotas_of_root(account: Account) -> None:
    """`fsx/openzfs_file_system_test.go`, TestAccFSxOpenZFSFileSystem_rootVolume."""
    fsx = account.client("fsx")
    own = {"Id": 10, "StorageCapacityQuotaGiB": 128, "Type": "USER"}
    made = fsx.create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[PRIVATE_B],
        OpenZFSConfiguration={
            "DeploymentType": "SINGLE_AZ_1",
            "ThroughputCapacity": 64,
            "RootVolumeConfiguration": {"UserAndGroupQuotas": [own], "CopyTagsToSnapshots": True},
        },
    )["FileSystem"]["OpenZFSConfiguration"]
    (volume,) = fsx.describe_volumes(VolumeIds=[made["RootVolumeId"]])["Volumes"]
    configuration = volume["OpenZFSConfiguration"]
    assert configuration["CopyTagsToSnapshots"] is True
    assert [(each["Type"], each["Id"]) for each in configuration["UserAndGroupQuotas"]] == [
        ("USER", 10),
        ("USER", 0),
        ("GROUP", 0),
    ]


@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_a_rule_that_is_gone_is_refused_by_its_id(account: Account, direction: str) -> None:
    """`ec2/vpc_security_group_ingress_rule.go`, Delete."""
    revoke = getattr(account.ec2, f"revoke_security_group_{direction}")
    with refused("InvalidSecurityGroupRuleId.NotFound", "sgr-0123456789abcdef0"):
        revoke(GroupId=account.group(), SecurityGroupRuleIds=["sgr-0123456789abcdef0"])


HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
NETWORK_6 = {"CidrIpv6": "2001:db8::/64"}


def rule_of(account: Account, group: str, **peer: Any) -> str:
    """Allow a peer on port 443; return the rule's id."""
    made = account.ec2.authorize_security_group_ingress(
        GroupId=group, IpPermissions=[{**HTTPS, **peer}]
    )
    return made["SecurityGroupRules"][0]["SecurityGroupRuleId"]


def modified(account: Account, group: str, rule: str, **request: Any) -> dict[str, Any]:
    """Modify a rule; return its description."""
    account.ec2.modify_security_group_rules(
        GroupId=group,
        SecurityGroupRules=[{"SecurityGroupRuleId": rule, "SecurityGroupRule": request}],
    )
    (shown,) = account.ec2.describe_security_group_rules(SecurityGroupRuleIds=[rule])[
        "SecurityGroupRules"
    ]
    return shown


def prefix_list(account: Account, name: str) -> str:
    """Create a prefix list; return its id."""
    made = account.ec2.create_managed_prefix_list(
        PrefixListName=name, MaxEntries=1, AddressFamily="IPv4"
    )
    return made["PrefixList"]["PrefixListId"]


def test_a_modified_rule_has_its_new_peer(account: Account) -> None:
    """`ec2/vpc_security_group_ingress_rule_test.go`, `…_cidrIPv4` and the three after it."""
    group, other = account.group(), account.group("other")
    lists = [prefix_list(account, name) for name in ("one", "two")]

    rule = rule_of(account, group, IpRanges=[{"CidrIp": "10.0.0.0/16"}])
    found = modified(account, group, rule, **HTTPS, CidrIpv4="10.1.2.3/16", Description="pods")
    assert (found["CidrIpv4"], found["Description"]) == ("10.1.0.0/16", "pods")

    rule = rule_of(account, group, Ipv6Ranges=[NETWORK_6])
    found = modified(account, group, rule, **HTTPS, CidrIpv6="2001:db8:1::1/64")
    assert found["CidrIpv6"] == "2001:db8:1::/64"

    rule = rule_of(account, group, PrefixListIds=[{"PrefixListId": lists[0]}])
    found = modified(account, group, rule, **HTTPS, PrefixListId=lists[1])
    assert found["PrefixListId"] == lists[1]

    rule = rule_of(account, group, UserIdGroupPairs=[{"GroupId": group, "Description": "EFA"}])
    found = modified(account, group, rule, IpProtocol="-1", ReferencedGroupId=other)
    assert found["ReferencedGroupInfo"]["GroupId"] == other
    assert (found["IpProtocol"], found["Description"]) == ("-1", "EFA")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (HTTPS, "MissingParameter"),
        ({**HTTPS, "CidrIpv4": "10.1.0.0/16", **NETWORK_6}, "InvalidParameterCombination"),
        ({**HTTPS, **NETWORK_6}, "InvalidParameterValue"),
        ({**HTTPS, "CidrIpv4": "10.1.0.0/33"}, "InvalidParameterValue"),
        ({"CidrIpv4": "10.1.0.0/16"}, "InvalidParameterValue"),
        ({"IpProtocol": "tcp", "CidrIpv4": "10.1.0.0/16"}, "InvalidParameterValue"),
        ({**HTTPS, "CidrIpv4": "10.2.0.0/16"}, "InvalidPermission.Duplicate"),
    ],
)
def test_a_modification_that_aws_refuses_changes_nothing(
    account: Account, request_: dict[str, Any], code: str
) -> None:
    """`SecurityGroupRuleRequest`: exactly one peer, of the same type as that of the rule."""
    group = account.group()
    rule = rule_of(account, group, IpRanges=[{"CidrIp": "10.0.0.0/16"}])
    rule_of(account, group, IpRanges=[{"CidrIp": "10.2.0.0/16"}])
    before = account.ec2.describe_security_group_rules()
    with refused(code):
        modified(account, group, rule, **request_)
    assert (
        account.ec2.describe_security_group_rules()["SecurityGroupRules"]
        == (before["SecurityGroupRules"])
    )


def test_a_modification_names_what_exists(account: Account) -> None:
    group, gone = account.group(), "sg-0123456789abcdef9"
    pair, listed = [{"GroupId": group}], [{"PrefixListId": prefix_list(account, "one")}]
    by_group = rule_of(account, group, UserIdGroupPairs=pair)
    by_list = rule_of(account, group, PrefixListIds=listed)
    with refused("InvalidGroup.NotFound", gone):
        modified(account, group, by_group, **HTTPS, ReferencedGroupId=gone)
    with refused("InvalidPrefixListID.NotFound", "pl-0123456789abcdef9"):
        modified(account, group, by_list, **HTTPS, PrefixListId="pl-0123456789abcdef9")
    with refused("InvalidGroup.NotFound", gone):
        modified(account, gone, by_group, **HTTPS, ReferencedGroupId=group)
    with refused("InvalidSecurityGroupRuleId.NotFound", by_group):
        modified(account, account.group("other"), by_group, **HTTPS, ReferencedGroupId=group)


def test_a_launch_template_that_is_gone_is_refused_by_its_id(account: Account) -> None:
    """`ec2/ec2_launch_template.go`, resourceLaunchTemplateDelete."""
    with refused("InvalidLaunchTemplateId.NotFound", "lt-0123456789abcdef0"):
        account.ec2.delete_launch_template(LaunchTemplateId="lt-0123456789abcdef0")


def test_an_address_block_that_has_left_its_vpc_is_refused(account: Account) -> None:
    """`ec2/vpc_ipv4_cidr_block_association.go`, Delete."""
    associated = account.ec2.associate_vpc_cidr_block(VpcId=VPC, CidrBlock="10.9.0.0/16")
    identifier = associated["CidrBlockAssociation"]["AssociationId"]
    account.ec2.disassociate_vpc_cidr_block(AssociationId=identifier)
    with refused("InvalidVpcCidrBlockAssociationID.NotFound", identifier):
        account.ec2.disassociate_vpc_cidr_block(AssociationId=identifier)


def test_a_role_that_is_not_in_an_instance_profile_is_refused(account: Account) -> None:
    """`iam/instance_profile.go`, instanceProfileRemoveRole."""
    iam = account.client("iam")
    account.role("workers")
    names = {"InstanceProfileName": "workers", "RoleName": "workers"}
    iam.remove_role_from_instance_profile(**names)
    with refused("NoSuchEntity", "workers"):
        iam.remove_role_from_instance_profile(**names)
