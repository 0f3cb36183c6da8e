"""An FSx for OpenZFS file system as resources: protection and network access."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.support.parallelcluster import NEW_NETWORK
from tests.support.pools import NETWORK
from tests.support.stack_files import PRIVATE_B, PUBLIC_B
from trainyard.components.config.storage import NewFsxOpenZfs
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.storage.open_zfs import OpenZfs, OpenZfsArgs, client_cidrs
from trainyard.components.storage.storage_plan import OpenZfsPlan, plan_open_zfs

INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
CALLS = {"aws:ec2/getSubnet:getSubnet": {"cidrBlock": "10.9.0.0/24"}}
KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def plan(clients: tuple[str, ...] = (PUBLIC_B, PRIVATE_B), **changes: Any) -> OpenZfsPlan:
    wanted = NewFsxOpenZfs(kind="fsx-openzfs", **changes)
    return plan_open_zfs(
        "home", wanted, subnets=(PRIVATE_B,), clients=clients, tags={"team": "vision"}
    )


def program(wanted: OpenZfsPlan, network: NetworkPlan = NETWORK):
    def run() -> dict[str, OpenZfs]:
        args = OpenZfsArgs(
            plan=wanted,
            vpc_id="vpc-0123456789abcdef0",
            subnet_id=wanted.subnets[0],
            client_cidrs=client_cidrs(wanted, network),
        )
        made = OpenZfs("pc-home", args)
        pulumi.export("volume", made.root_volume_id)
        return {"home": made}

    return run


def test_the_file_system_has_what_the_plan_says(deploy):
    wanted = plan(
        deployment_type="SINGLE_AZ_1",
        throughput_capacity_mbps=128,
        storage_capacity_gib=512,
        kms_key_arn=KEY,
        weekly_maintenance="7:03:00",
    )
    cloud = deploy(program(wanted), calls=CALLS)
    inputs = cloud.one("pc-home-file-system").inputs
    assert inputs["subnetIds"] == [PRIVATE_B]
    assert inputs["securityGroupIds"] == ["pc-home-servers-id"]
    assert (inputs["deploymentType"], inputs["throughputCapacity"]) == ("SINGLE_AZ_1", 128)
    assert (inputs["storageCapacity"], inputs["storageType"]) == (512, "SSD")
    assert (inputs["kmsKeyId"], inputs["weeklyMaintenanceStartTime"]) == (KEY, "7:03:00")
    assert inputs["tags"]["trainyard:storage"] == "home"
    assert inputs["skipFinalBackup"] is True
    assert cloud.exports["volume"] == "fsvol-0123456789abcdef0"


def test_the_head_node_makes_directories_as_root(deploy):
    cloud = deploy(program(plan()), calls=CALLS)
    root = cloud.one("pc-home-file-system").inputs["rootVolumeConfiguration"]
    assert root["dataCompressionType"] == "LZ4"
    (client,) = root["nfsExports"]["clientConfigurations"]
    assert client == {"clients": "*", "options": ["rw", "crossmnt", "no_root_squash"]}


def test_whoever_asks_for_backups_gets_a_last_one(deploy):
    cloud = deploy(program(plan(backup_retention_days=30, backup_time="03:00")), calls=CALLS)
    inputs = cloud.one("pc-home-file-system").inputs
    assert inputs["skipFinalBackup"] is False
    assert inputs["automaticBackupRetentionDays"] == 30
    assert inputs["dailyAutomaticBackupStartTime"] == "03:00"
    assert inputs["copyTagsToBackups"] is True


@pytest.mark.parametrize("protected", [True, False])
def test_protection_covers_deletion_and_replacement(deploy, protected):
    cloud = deploy(program(plan(deletion_protection=protected)), calls=CALLS)
    made = cloud.one("pc-home-file-system")
    assert (made.protect, made.retain_on_delete) == (protected, protected)


def test_every_subnet_of_the_cluster_is_let_in_on_the_ports_of_nfs(deploy):
    """F7: TCP and UDP 111, 2049 and 20001-20003."""
    clients = (NEW_NETWORK.public_subnets[0].name, NEW_NETWORK.private_names[0])
    cloud = deploy(program(plan(clients), NEW_NETWORK))
    rules = {
        (r["cidrIpv4"], r["ipProtocol"], r["fromPort"], r["toPort"])
        for r in (each.inputs for each in cloud.of_type(INGRESS))
    }
    assert rules == {
        (NEW_NETWORK.subnet(client).cidr, protocol, *ports)
        for client in clients
        for protocol in ("tcp", "udp")
        for ports in ((111, 111), (2049, 2049), (20001, 20003))
    }


def test_the_networks_of_subnets_that_exist_are_read_from_the_account(deploy):
    cloud = deploy(program(plan()), calls=CALLS)
    assert {each.inputs["cidrIpv4"] for each in cloud.of_type(INGRESS)} == {"10.9.0.0/24"}


def test_nothing_that_is_protected_needs_the_cluster(deploy):
    cloud = deploy(program(plan()), calls=CALLS)
    by_urn = {each.urn: each.type for each in cloud.registered}
    needed = {by_urn[urn] for urn in cloud.one("pc-home-file-system").dependencies}
    assert needed == {"aws:ec2/securityGroup:SecurityGroup"}


def test_a_network_of_another_plan_is_an_error():
    with pytest.raises(KeyError):
        client_cidrs(plan(("elsewhere",)), NEW_NETWORK)
