"""FSx for OpenZFS in the sandbox: its answers, its refusals, and its leftovers."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import PRIVATE_B, TINY_B, VPC, Account

SETTINGS = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160}
EXPORTS = [{"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "no_root_squash"]}]}]


def make(account: Account, settings: dict[str, Any] | None = None, **changes: Any) -> dict:
    wanted: dict[str, Any] = {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 64,
        "SubnetIds": [PRIVATE_B],
        "OpenZFSConfiguration": {**SETTINGS, **(settings or {})},
        **changes,
    }
    return account.client("fsx").create_file_system(**wanted)["FileSystem"]


def refusal(account: Account, settings: dict[str, Any], **changes: Any) -> str:
    with pytest.raises(ClientError) as caught:
        make(account, settings, **changes)
    return caught.value.response["Error"]["Code"]


def root_volume(account: Account, made: dict[str, Any]) -> dict[str, Any]:
    identifier = made["OpenZFSConfiguration"]["RootVolumeId"]
    (volume,) = account.client("fsx").describe_volumes(VolumeIds=[identifier])["Volumes"]
    return volume


def test_a_file_system_has_a_root_volume_that_clients_mount(account: Account):
    root = {"DataCompressionType": "LZ4", "NfsExports": EXPORTS}
    made = make(account, {"RootVolumeConfiguration": root}, Tags=[{"Key": "a", "Value": "b"}])
    assert (made["Lifecycle"], made["VpcId"]) == ("AVAILABLE", VPC)
    assert made["Tags"] == [{"Key": "a", "Value": "b"}]
    volume = root_volume(account, made)
    assert volume["FileSystemId"] == made["FileSystemId"]
    configuration = volume["OpenZFSConfiguration"]
    assert configuration["VolumePath"] == "/fsx"
    assert configuration["DataCompressionType"] == "LZ4"
    assert configuration["NfsExports"] == EXPORTS


def test_it_goes_with_its_volume_and_its_interface(account: Account):
    group = account.group("nfs")
    made = make(account, SecurityGroupIds=[group])
    with pytest.raises(ClientError, match="DependencyViolation"):
        account.ec2.delete_security_group(GroupId=group)
    account.client("fsx").delete_file_system(FileSystemId=made["FileSystemId"])
    account.ec2.delete_security_group(GroupId=group)
    with pytest.raises(ClientError, match="VolumeNotFound"):
        root_volume(account, made)


@pytest.mark.parametrize(
    ("settings", "changes", "code"),
    [
        ({"ThroughputCapacity": 64}, {}, "BadRequest"),
        ({"DeploymentType": "SINGLE_AZ_1"}, {}, "BadRequest"),
        ({"DeploymentType": "SINGLE_AZ_9"}, {}, "BadRequest"),
        ({}, {"StorageCapacity": 32}, "BadRequest"),
        ({}, {"SubnetIds": [PRIVATE_B, TINY_B]}, "InvalidNetworkSettings"),
        ({}, {"SubnetIds": ["subnet-00000000"]}, "InvalidNetworkSettings"),
        ({}, {"SecurityGroupIds": ["sg-00000000"]}, "InvalidNetworkSettings"),
    ],
)
def test_what_fsx_refuses_is_refused(account: Account, settings, changes, code):
    assert refusal(account, settings, **changes) == code


@pytest.mark.parametrize(
    "settings",
    [
        {"DeploymentType": "MULTI_AZ_1"},
        {"DiskIopsConfiguration": {"Mode": "AUTOMATIC"}},
    ],
)
def test_what_is_not_emulated_is_named(account: Account, settings):
    assert refusal(account, settings) == "SandboxNotImplemented"


def test_a_file_system_grows_and_never_shrinks(account: Account):
    fsx, identifier = account.client("fsx"), make(account)["FileSystemId"]
    grown = fsx.update_file_system(
        FileSystemId=identifier,
        StorageCapacity=128,
        OpenZFSConfiguration={"ThroughputCapacity": 320},
    )["FileSystem"]
    assert grown["StorageCapacity"] == 128
    assert grown["OpenZFSConfiguration"]["ThroughputCapacity"] == 320
    with pytest.raises(ClientError, match="can only be increased"):
        fsx.update_file_system(FileSystemId=identifier, StorageCapacity=64)
    with pytest.raises(ClientError, match="ThroughputCapacity"):
        fsx.update_file_system(
            FileSystemId=identifier, OpenZFSConfiguration={"ThroughputCapacity": 161}
        )


def test_a_volume_is_changed_in_place(account: Account):
    made = make(account)
    root = made["OpenZFSConfiguration"]["RootVolumeId"]
    fsx = account.client("fsx")
    fsx.update_volume(VolumeId=root, OpenZFSConfiguration={"DataCompressionType": "ZSTD"})
    configuration = root_volume(account, made)["OpenZFSConfiguration"]
    assert configuration["DataCompressionType"] == "ZSTD"
    with pytest.raises(ClientError, match="SandboxNotImplemented"):
        fsx.update_volume(VolumeId=root, OpenZFSConfiguration={"StorageCapacityQuotaGiB": 1})
    with pytest.raises(ClientError, match="VolumeNotFound"):
        fsx.update_volume(VolumeId="fsvol-0123456789abcdeff", OpenZFSConfiguration={})
