"""FSx for Lustre in the sandbox: its answers, its refusals, and its leftovers."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import PRIVATE_B, TINY_B, VPC, Account

PERSISTENT_2 = {
    "DeploymentType": "PERSISTENT_2",
    "PerUnitStorageThroughput": 1000,
    "MetadataConfiguration": {"Mode": "AUTOMATIC"},
}
S3 = {"AutoImportPolicy": {"Events": ["NEW"]}}


def open_group(account: Account, *, protocol: str = "tcp", name: str = "lustre") -> str:
    group = account.group(name)
    permission: dict[str, Any] = {"IpProtocol": protocol, "UserIdGroupPairs": [{"GroupId": group}]}
    if protocol == "tcp":
        permission |= {"FromPort": 988, "ToPort": 988}
    account.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])
    if protocol == "-1":
        account.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[permission])
    return group


def make(account: Account, lustre: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 4800,
        "SubnetIds": [PRIVATE_B],
        "LustreConfiguration": lustre or PERSISTENT_2,
        **changes,
    }
    if "SecurityGroupIds" not in wanted:
        wanted["SecurityGroupIds"] = [open_group(account)]
    return account.client("fsx").create_file_system(**wanted)["FileSystem"]


def refusal(account: Account, lustre: dict[str, Any] | None = None, **changes: Any) -> str:
    with pytest.raises(ClientError) as caught:
        make(account, lustre, **changes)
    return caught.value.response["Error"]["Code"]


def test_a_file_system_says_what_clients_need(account: Account):
    made = make(account, Tags=[{"Key": "a", "Value": "b"}])
    systems = account.client("fsx").describe_file_systems()["FileSystems"]
    (found,) = [each for each in systems if each["FileSystemId"] == made["FileSystemId"]]
    assert found["DNSName"] == f"{made['FileSystemId']}.fsx.us-west-2.amazonaws.com"
    assert (found["Lifecycle"], found["VpcId"]) == ("AVAILABLE", VPC)
    assert len(found["LustreConfiguration"]["MountName"]) == 8
    assert found["Tags"] == [{"Key": "a", "Value": "b"}]


def test_its_servers_take_addresses_and_give_them_back(account: Account):
    """One interface for metadata, and one for each 2.4 TiB."""

    def free() -> int:
        (subnet,) = account.ec2.describe_subnets(SubnetIds=[PRIVATE_B])["Subnets"]
        return subnet["AvailableIpAddressCount"]

    before, group = free(), open_group(account)
    made = make(account, SecurityGroupIds=[group])
    assert free() == before - 3
    (interface, *_) = account.ec2.describe_network_interfaces(
        NetworkInterfaceIds=made["NetworkInterfaceIds"]
    )["NetworkInterfaces"]
    assert [each["GroupId"] for each in interface["Groups"]] == [group]
    with pytest.raises(ClientError, match="DependencyViolation"):
        account.ec2.delete_security_group(GroupId=group)
    account.client("fsx").delete_file_system(FileSystemId=made["FileSystemId"])
    assert free() == before
    account.ec2.delete_security_group(GroupId=group)


@pytest.mark.parametrize(
    ("lustre", "changes", "code"),
    [
        ({}, {"StorageCapacity": 1300}, "BadRequest"),
        ({"PerUnitStorageThroughput": 200}, {}, "InvalidPerUnitStorageThroughput"),
        ({"DeploymentType": "SCRATCH_9"}, {}, "BadRequest"),
        ({"ImportPath": "s3://a"}, {}, "InvalidImportPath"),
        ({"DriveCacheType": "READ"}, {}, "BadRequest"),
        ({}, {"StorageType": "HDD"}, "BadRequest"),
        ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 5000}}, {}, "BadRequest"),
        ({"EfaEnabled": True}, {"StorageCapacity": 2400}, "BadRequest"),
        ({}, {"SubnetIds": [TINY_B], "StorageCapacity": 48000}, "InvalidNetworkSettings"),
        ({}, {"SubnetIds": ["subnet-00000000"]}, "InvalidNetworkSettings"),
        ({}, {"SecurityGroupIds": []}, "InvalidNetworkSettings"),
    ],
)  # fmt: skip
def test_what_fsx_refuses_is_refused(account: Account, lustre, changes, code):
    assert refusal(account, {**PERSISTENT_2, **lustre}, **changes) == code


def test_a_group_that_closes_the_port_of_lustre_is_refused(account: Account):
    assert refusal(account, SecurityGroupIds=[account.group("closed")]) == "InvalidNetworkSettings"


def test_efa_wants_a_group_that_reaches_itself_with_everything(account: Account):
    efa = {**PERSISTENT_2, "EfaEnabled": True}
    assert refusal(account, efa) == "InvalidNetworkSettings"
    whole = open_group(account, protocol="-1", name="efa")
    assert make(account, efa, SecurityGroupIds=[whole])["LustreConfiguration"]["EfaEnabled"]


def test_a_file_system_grows_and_never_shrinks(account: Account):
    fsx, identifier = account.client("fsx"), make(account)["FileSystemId"]
    grown = fsx.update_file_system(FileSystemId=identifier, StorageCapacity=7200)
    assert grown["FileSystem"]["StorageCapacity"] == 7200
    with pytest.raises(ClientError, match="BadRequest"):
        fsx.update_file_system(FileSystemId=identifier, StorageCapacity=4800)


def test_an_unknown_file_system_is_not_found(account: Account):
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        account.client("fsx").describe_file_systems(FileSystemIds=["fs-0123456789abcdef0"])


def test_directories_are_linked_to_s3_once(account: Account):
    fsx, identifier = account.client("fsx"), make(account)["FileSystemId"]

    def link(path: str) -> str:
        return fsx.create_data_repository_association(
            FileSystemId=identifier, FileSystemPath=path, DataRepositoryPath="s3://data/", S3=S3
        )["Association"]["AssociationId"]

    made = link("/a")
    with pytest.raises(ClientError, match="overlaps"):
        link("/a/b")
    fsx.delete_data_repository_association(AssociationId=made)
    with pytest.raises(ClientError, match="DataRepositoryAssociationNotFound"):
        fsx.describe_data_repository_associations(AssociationIds=[made])
    link("/a/b")
    fsx.delete_file_system(FileSystemId=identifier)
    assert fsx.describe_data_repository_associations()["Associations"] == []


def test_other_kinds_of_file_systems_are_named_as_missing(account: Account):
    with pytest.raises(ClientError, match="SandboxNotImplemented"):
        account.client("fsx").create_file_system(FileSystemType="WINDOWS", SubnetIds=[PRIVATE_B])
