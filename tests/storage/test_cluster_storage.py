"""File systems of a stack as resources: protection, network access, and volumes of pods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from tests.support.eks import NETWORK, PRIVATE, changed
from tests.support.stack_files import plan_from
from trainyard.components.config.fsx_lustre import DataRepository
from trainyard.components.eks.cluster_storage import ClusterStorage, ClusterStorageArgs
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.storage.storage_plan import FsxLustrePlan

TAGS = {"team": "vision"}
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"
CLUSTER_GROUP = "sg-cluster"
SERVERS = "p5-data-servers-group-id"


def lustre(**changes: Any) -> FsxLustrePlan:
    wanted = {"kind": "fsx-lustre", "per_unit_storage_throughput": 250, **changes}
    raw = changed(storage={"data": wanted}, architecture__node_groups__p5__subnet_id=PRIVATE[1])
    (found,) = plan_from(raw).file_systems
    return replace(found, subnets=("subnet-private-b",))


EXISTING = replace(
    lustre(),
    settings=None,
    subnets=(),
    file_system_id="fs-0123456789abcdef0",
    dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    mount_name="abcdefgh",
)


def storage(*plans: FsxLustrePlan) -> dict[str, ClusterStorage]:
    network = ClusterNetwork("p5-network", NETWORK, tags=TAGS)
    args = ClusterStorageArgs(
        file_systems=plans,
        network=network,
        cluster=pulumi.ComponentResource("trainyard:test:Cluster", "cluster"),
        provider=kubernetes.Provider("provider", kubeconfig="{}"),
        cluster_security_group_id=CLUSTER_GROUP,
        efa_security_group_id="sg-efa",
        driver=[kubernetes.core.v1.Namespace("driver")],
        tags=TAGS,
    )
    made = ClusterStorage("p5", args)
    pulumi.export("file_systems", made.outputs())
    return {"p5": made}


def rules(cloud: Any, direction: str) -> set[tuple[str, str, Any, Any]]:
    return {
        (
            rule.inputs["securityGroupId"],
            rule.inputs["referencedSecurityGroupId"],
            rule.inputs["ipProtocol"],
            (rule.inputs.get("fromPort"), rule.inputs.get("toPort")),
        )
        for rule in cloud.of_type(direction)
    }


def test_the_file_system_has_what_the_plan_says(deploy):
    cloud = deploy(lambda: storage(lustre(storage_capacity_gib=4800, weekly_maintenance="7:03:00")))
    inputs = cloud.one("p5-data-file-system").inputs
    assert inputs["subnetIds"] == "subnet-private-b"
    assert inputs["securityGroupIds"] == [SERVERS]
    assert (inputs["storageCapacity"], inputs["perUnitStorageThroughput"]) == (4800, 250)
    assert inputs["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    assert (inputs["fileSystemTypeVersion"], inputs["dataCompressionType"]) == ("2.15", "LZ4")
    assert inputs["weeklyMaintenanceStartTime"] == "7:03:00"
    assert inputs["tags"]["trainyard:storage"] == "data"


@pytest.mark.parametrize("protected", [True, False])
def test_protection_covers_deletion_and_replacement(deploy, protected):
    cloud = deploy(lambda: storage(lustre(deletion_protection=protected)))
    made = cloud.one("p5-data-file-system")
    assert (made.protect, made.retain_on_delete) == (protected, protected)


def test_backups_that_are_turned_on_later_do_not_replace_the_file_system(deploy):
    """Copying tags to backups can be set only at the creation."""
    made = deploy(lambda: storage(lustre(backup_retention_days=7))).one("p5-data-file-system")
    assert made.inputs["copyTagsToBackups"] is True
    assert made.ignore_changes == ("copyTagsToBackups",)


def test_nothing_that_is_protected_needs_the_cluster(deploy):
    """Objects that `destroy` retains do not block the deletion of others."""
    cloud = deploy(lambda: storage(lustre()))
    made = cloud.one("p5-data-file-system")
    by_urn = {each.urn: each for each in cloud.registered}
    needed = {by_urn[urn].type for urn in made.dependencies}
    assert needed == {"aws:ec2/securityGroup:SecurityGroup", INGRESS, EGRESS}
    for urn in made.dependencies:
        assert CLUSTER_GROUP not in str(by_urn[urn].inputs)


@pytest.mark.parametrize("direction", [INGRESS, EGRESS])
def test_servers_and_nodes_reach_one_another_on_the_ports_of_lustre(deploy, direction):
    """VPC1-14: 988 and 1018-1023, in both directions, by group id."""
    cloud = deploy(lambda: storage(lustre()))
    ports = ((988, 988), (1018, 1023))
    pairs = ((SERVERS, SERVERS), (SERVERS, CLUSTER_GROUP), (CLUSTER_GROUP, SERVERS))
    assert rules(cloud, direction) == {
        (group, peer, "tcp", port) for group, peer in pairs for port in ports
    }


@pytest.mark.parametrize("direction", [INGRESS, EGRESS])
def test_with_efa_everything_passes_between_servers_and_efa_interfaces(deploy, direction):
    efa = lustre(efa_enabled=True, storage_capacity_gib=19200)
    cloud = deploy(lambda: storage(efa))
    assert cloud.one("p5-data-file-system").inputs["efaEnabled"] is True
    everything = {rule[:2] for rule in rules(cloud, direction) if rule[2] == "-1"}
    assert everything == {(SERVERS, SERVERS), (SERVERS, "sg-efa"), ("sg-efa", SERVERS)}


def test_no_rule_leads_out_of_the_vpc(deploy):
    cloud = deploy(lambda: storage(lustre()))
    assert not [r for r in cloud.of_type(EGRESS) if "cidrIpv4" in r.inputs]


def test_the_volume_is_bound_to_its_claim_and_keeps_the_data(deploy):
    cloud = deploy(lambda: storage(lustre(mount_options=["flock", "noatime"])))
    spec = cloud.one("p5-data-mount-volume").inputs["spec"]
    assert spec["csi"]["driver"] == "fsx.csi.aws.com"
    assert spec["csi"]["volumeHandle"] == "p5-data-file-system-id"
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert spec["accessModes"] == ["ReadWriteMany"]
    assert spec["mountOptions"] == ["flock", "noatime"]
    assert spec["claimRef"]["name"] == "data"
    claim = cloud.one("p5-data-mount-claim").inputs["spec"]
    assert (claim["volumeName"], claim["storageClassName"]) == ("default-data", "")


def test_a_file_system_that_grows_leaves_its_claim_as_it_is(deploy):
    """The API server forbids resizing a claim without a storage class."""
    cloud = deploy(lambda: storage(lustre(storage_capacity_gib=4800)))
    assert cloud.one("p5-data-mount-claim").ignore_changes == ("spec.resources",)
    volume = cloud.one("p5-data-mount-volume")
    assert (volume.inputs["spec"]["capacity"], volume.ignore_changes) == ({"storage": "4800Gi"}, ())


def test_the_volume_comes_after_the_driver_and_the_way_to_the_servers(deploy):
    cloud = deploy(lambda: storage(lustre()))
    volume = cloud.one("p5-data-mount-volume")
    before = {urn.rpartition("::")[2] for urn in volume.dependencies}
    assert {"driver", "p5-data-clients-clients-egress-servers-988"} <= before
    assert volume.deleted_with.endswith("trainyard:test:Cluster::cluster")


def test_directories_are_linked_to_s3_and_protected_with_the_data(deploy):
    repository = DataRepository(
        file_system_path="/a", s3_path="s3://data/a", export_events=("NEW",)
    )
    linked = lustre()
    assert linked.settings is not None
    linked = replace(linked, settings=replace(linked.settings, data_repositories=(repository,)))
    made = deploy(lambda: storage(linked)).one("p5-data-data-0")
    assert made.protect
    assert made.inputs["dataRepositoryPath"] == "s3://data/a"
    assert made.inputs["deleteDataInFilesystem"] is False
    assert made.inputs["s3"]["autoExportPolicy"] == {"events": ["NEW"]}


def test_an_existing_file_system_is_mounted_and_nothing_of_it_is_touched(deploy):
    cloud = deploy(lambda: storage(EXISTING))
    assert not cloud.of_type(FILE_SYSTEM)
    assert not cloud.of_type(INGRESS) + cloud.of_type(EGRESS)
    attributes = cloud.one("p5-data-mount-volume").inputs["spec"]["csi"]["volumeAttributes"]
    assert attributes == {"dnsname": EXISTING.dns_name, "mountname": "abcdefgh"}


def adopted(**changes: Any) -> FsxLustrePlan:
    return lustre(adopt={"file_system_id": EXISTING.file_system_id, **changes})


def test_an_adopted_file_system_is_imported_and_keeps_what_the_stack_file_does_not_say(deploy):
    made = deploy(lambda: storage(adopted())).one("p5-data-file-system")
    assert (made.import_id, made.protect, made.retain_on_delete) == (
        *(EXISTING.file_system_id, True, True),
    )
    assert set(made.ignore_changes) == {"copyTagsToBackups", "rootSquashConfiguration", "tags"}
    given = ("securityGroupIds", "fileSystemTypeVersion", "metadataConfiguration")
    assert [each for each in given if each in made.inputs] == []


def test_an_adopted_file_system_has_no_group_of_the_stack_and_rules_only_in_the_named_one(deploy):
    closed = deploy(lambda: storage(adopted()))
    assert not closed.of_type("aws:ec2/securityGroup:SecurityGroup")
    assert not closed.of_type(INGRESS) + closed.of_type(EGRESS)
    opened = deploy(lambda: storage(adopted(security_group_id="sg-0123456789abcdef0")))
    assert {rule[0] for rule in rules(opened, INGRESS)} == {"sg-0123456789abcdef0", CLUSTER_GROUP}


def test_rules_go_into_the_group_of_an_existing_file_system_only_where_it_is_named(deploy):
    opened = replace(EXISTING, security_group_id="sg-theirs")
    cloud = deploy(lambda: storage(opened))
    assert {rule[0] for rule in rules(cloud, INGRESS)} == {"sg-theirs", CLUSTER_GROUP}


def test_the_outputs_say_how_to_mount_it(deploy):
    found = deploy(lambda: storage(EXISTING)).exports["file_systems"]["data"]
    assert found["claim"] == "default/data"
    assert found["mount_command"].endswith(f"flock {EXISTING.dns_name}@tcp:/abcdefgh /mnt/data")
