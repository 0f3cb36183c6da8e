"""Objects of the account that ParallelCluster uses: images, storage, reservations in a group."""

from __future__ import annotations

import pytest

from tests.support.cluster_configs import (
    EFS,
    GPU_IMAGE,
    LUSTRE,
    NEURON_IMAGE,
    OLD_IMAGE,
    OPENZFS_VOLUME,
    P4DE_GROUP,
    TRAINIUM_ODCR,
)
from tests.support.sandbox_aws import ACCOUNT, ODCR_IN_GROUP, VPC, Account, refused
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.sandbox.inventory import Clients, _storage_items

STORAGE_GROUP = "sg-0123456789abcdef0"


def official(account: Account, system: str) -> list[dict]:
    name = f"aws-parallelcluster-{PARALLELCLUSTER_VERSION}-{system}-*"
    filters = [{"Name": "name", "Values": [name]}, {"Name": "state", "Values": ["available"]}]
    return account.ec2.describe_images(Owners=["amazon"], Filters=filters)["Images"]


@pytest.mark.parametrize(
    "system",
    ["amzn2023-hvm", "ubuntu-2204-lts-hvm", "ubuntu-2404-lts-hvm", "rhel8-hvm", "rhel9-hvm"],
)
def test_the_official_images_are_found_by_name(account: Account, system: str) -> None:
    # PC-02
    images = official(account, system)
    assert {image["Architecture"] for image in images} == {"x86_64", "arm64"}
    assert {image["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] for image in images} == {45}


def test_rocky_linux_has_no_official_image(account: Account) -> None:
    assert official(account, "rocky9-hvm") == []


@pytest.mark.parametrize(
    ("image_id", "system", "version"),
    [
        (GPU_IMAGE, "alinux2023", PARALLELCLUSTER_VERSION),
        (NEURON_IMAGE, "ubuntu2204", PARALLELCLUSTER_VERSION),
        (OLD_IMAGE, "alinux2023", "3.9.0"),
    ],
)
def test_images_of_the_account_say_what_built_them(
    account: Account, image_id: str, system: str, version: str
) -> None:
    # PCx-01
    (image,) = account.ec2.describe_images(ImageIds=[image_id], Owners=["self"])["Images"]
    tags = {tag["Key"]: tag["Value"] for tag in image["Tags"]}
    assert tags["parallelcluster:os"] == system
    assert tags["parallelcluster:version"] == version
    assert tags["parallelcluster:build_status"] == "available"
    assert (image["OwnerId"], image["Public"]) == (ACCOUNT, False)


def test_the_trainium_reservation_is_in_a_zone_that_has_trainium(account: Account) -> None:
    # PR-40
    reservation = account.reservation(TRAINIUM_ODCR)
    filters = [{"Name": "instance-type", "Values": [reservation["InstanceType"]]}]
    offered = account.ec2.describe_instance_type_offerings(
        LocationType="availability-zone-id", Filters=filters
    )["InstanceTypeOfferings"]
    assert reservation["AvailabilityZoneId"] == "usw2-az4"
    assert reservation["AvailabilityZoneId"] in {each["Location"] for each in offered}


def test_a_group_of_reservations_is_found_by_name_and_arn(account: Account) -> None:
    groups = account.client("resource-groups")
    for named in (P4DE_GROUP, "p4de-reservations"):
        (member,) = groups.list_group_resources(Group=named)["Resources"]
        assert member["Identifier"]["ResourceArn"].endswith(ODCR_IN_GROUP)
        configuration = groups.get_group_configuration(Group=named)["GroupConfiguration"]
        types = [each["Type"] for each in configuration["Configuration"]]
        assert types == ["AWS::EC2::CapacityReservationPool", "AWS::ResourceGroups::Generic"]
    with refused("NotFoundException"):
        groups.get_group_configuration(Group="nope")


def test_the_volume_of_openzfs_leads_to_its_file_system(account: Account) -> None:
    fsx = account.client("fsx")
    (volume,) = fsx.describe_volumes(VolumeIds=[OPENZFS_VOLUME])["Volumes"]
    ids = [volume["FileSystemId"], LUSTRE]
    systems = fsx.describe_file_systems(FileSystemIds=ids)["FileSystems"]
    assert [each["FileSystemType"] for each in systems] == ["OPENZFS", "LUSTRE"]
    assert {each["VpcId"] for each in systems} == {VPC}
    with refused("VolumeNotFound", "fsvol-0123456789abcdef0"):
        fsx.describe_volumes(VolumeIds=["fsvol-0123456789abcdef0"])


def test_efs_is_mounted_in_every_zone_behind_the_storage_group(account: Account) -> None:
    # TRN-07
    efs = account.client("efs")
    (system,) = efs.describe_file_systems(FileSystemId=EFS)["FileSystems"]
    assert "AvailabilityZoneName" not in system  # only the subnets of one zone have it
    targets = efs.describe_mount_targets(FileSystemId=EFS)["MountTargets"]
    zones = {target["AvailabilityZoneName"] for target in targets}
    assert zones == {f"us-west-2{letter}" for letter in "abcd"}
    for target in targets:
        groups = efs.describe_mount_target_security_groups(MountTargetId=target["MountTargetId"])
        assert groups["SecurityGroups"] == [STORAGE_GROUP]


def test_the_storage_group_lets_the_vpc_in_and_everything_out(account: Account) -> None:
    (group,) = account.ec2.describe_security_groups(GroupIds=[STORAGE_GROUP])["SecurityGroups"]
    sources = {each["CidrIp"] for rule in group["IpPermissions"] for each in rule["IpRanges"]}
    ports = {(rule["FromPort"], rule["IpProtocol"]) for rule in group["IpPermissions"]}
    assert sources == {"10.0.0.0/16"}
    assert ports >= {(988, "tcp"), (2049, "tcp"), (2049, "udp"), (111, "udp"), (20001, "tcp")}
    (everything,) = group["IpPermissionsEgress"]
    assert everything["IpProtocol"] == "-1"
    rules = account.ec2.describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [STORAGE_GROUP]}]
    )["SecurityGroupRules"]
    assert {rule["GroupId"] for rule in rules} == {STORAGE_GROUP}
    assert any(rule["IsEgress"] for rule in rules)


def test_scripts_are_read_and_missing_ones_are_missing(account: Account) -> None:
    s3 = account.client("s3")
    script = s3.get_object(Bucket="trainyard-sandbox-scripts", Key="post-install.sh")["Body"]
    assert script.read().startswith(b"#!/bin/bash\n")
    with refused("404"):
        s3.head_object(Bucket="trainyard-sandbox-scripts", Key="other.sh")
    with refused("404"):
        s3.head_bucket(Bucket="trainyard-of-somebody-else")


def test_a_backup_that_is_not_there_is_named(account: Account) -> None:
    with refused("BackupNotFound", "backup-0123456789abcdef0"):
        account.client("fsx").describe_backups(BackupIds=["backup-0123456789abcdef0"])


def test_a_cluster_may_have_a_bucket_of_the_account(account: Account) -> None:
    answer = account.client("s3").get_bucket_versioning(Bucket="trainyard-sandbox-data")
    assert answer["Status"] == "Enabled"


def test_a_reset_leaves_the_fixtures_buckets_only(account: Account) -> None:
    s3 = account.client("s3")
    name = "made-by-hand"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    account.server.reset()
    names = {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}
    assert names == {
        "parallelcluster-204fe0dacd9fa73b-v1-do-not-delete",
        "trainyard-sandbox-data",
        "trainyard-sandbox-east",
        "trainyard-sandbox-scripts",
    }


def test_a_key_pair_that_is_not_there_is_named(account: Account) -> None:
    # PC-05
    assert (
        account.ec2.describe_key_pairs(KeyNames=["sandbox"])["KeyPairs"][0]["KeyType"] == "ed25519"
    )
    with refused("InvalidKeyPair.NotFound", "The key pair 'nobody' does not exist"):
        account.ec2.describe_key_pairs(KeyNames=["sandbox", "nobody"])


def test_the_inventory_shows_every_kind_of_storage(account: Account) -> None:
    lines = [each.line for each in _storage_items(Clients(account.server.access, "us-west-2"))]
    for start in (
        f"efs:file-system {EFS} throughput=elastic",
        f"fsx:file-system {LUSTRE} type=LUSTRE deployment=PERSISTENT_2 capacity=4800",
        "fsx:file-system fs-0f5c0000000000002 type=OPENZFS",
        f"fsx:volume {OPENZFS_VOLUME} type=OPENZFS",
        "s3:bucket trainyard-sandbox-scripts",
    ):
        assert [line for line in lines if line.startswith(start)], start
