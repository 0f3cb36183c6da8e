"""PC-10: checks of existing storage that a ParallelCluster stack mounts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import account
from tests.support.parallelcluster import SharedStoragePlan as Storage
from tests.support.parallelcluster import head_node, plan, queue
from tests.support.stack_files import PRIVATE_B, PUBLIC_B, VPC
from trainyard.components.config.problems import ROOT
from trainyard.components.network.facts import IngressFacts
from trainyard.components.parallelcluster.mounted_storage_check import mounted_storage_problems
from trainyard.components.storage.facts import (
    EfsFacts,
    FileSystemFacts,
    MountTargetFacts,
    VolumeFacts,
)

EFS = "fs-0ef50000000000001"
LUSTRE = "fs-0f5c0000000000001"
OPEN_ZFS = "fsvol-0f5c0000000000002"
VOLUME = "vol-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"
OPEN = IngressFacts(protocol="-1", first_port=-1, last_port=-1, cidr="10.0.0.0/8")
TARGET = MountTargetFacts(
    vpc_id=VPC,
    availability_zone="us-west-2b",
    security_group_ids=frozenset({GROUP}),
    lets_in=(OPEN,),
)
DISK = VolumeFacts(
    volume_id=VOLUME, state="available", availability_zone="us-west-2b", attached_to=None
)


def system(kind: str, **changes: object) -> FileSystemFacts:
    found = FileSystemFacts(
        file_system_id=LUSTRE,
        type=kind,
        lifecycle="AVAILABLE",
        vpc_id=VPC,
        subnet_id=PRIVATE_B,
        availability_zone="us-west-2b",
        dns_name="",
        mount_name="",
        capacity_gib=1200,
        settings={},
        tags={},
        security_group_ids=frozenset({GROUP}),
        lets_in=(OPEN,),
    )
    return replace(found, **changes)


EVERYTHING = {
    "efs": {EFS: EfsFacts(file_system_id=EFS, targets=(TARGET,))},
    "file_systems": {LUSTRE: system("LUSTRE")},
    "open_zfs": {OPEN_ZFS: system("OPENZFS")},
    "volumes": {VOLUME: DISK},
}
KINDS = {
    "efs": ("Efs", "FileSystemId", EFS),
    "lustre": ("FsxLustre", "FileSystemId", LUSTRE),
    "open-zfs": ("FsxOpenZfs", "VolumeId", OPEN_ZFS),
    "disk": ("Ebs", "VolumeId", VOLUME),
}


def problems(kind: str, **facts):
    storage_type, key, identifier = KINDS[kind]
    storage = Storage(
        name="data",
        mount_directory="/data",
        type=storage_type,
        settings={key: identifier},
        retained=True,
    )
    cluster = plan(
        head_node=head_node(subnets=(PUBLIC_B,)),
        queues=(queue(subnets=(PRIVATE_B,)),),
        shared_storage=(storage,),
    )
    return list(mounted_storage_problems(cluster, account(**{**EVERYTHING, **facts})))


def only(found):
    (problem,) = found
    assert problem.path.startswith(f"{ROOT}.storage.data.")
    return problem


@pytest.mark.parametrize("kind", KINDS)
def test_storage_that_is_there_and_open_has_no_problem(kind):
    assert problems(kind) == []


@pytest.mark.parametrize(
    ("kind", "facts"), [("efs", "efs"), ("open-zfs", "open_zfs"), ("disk", "volumes")]
)
def test_storage_that_does_not_exist_is_named(kind, facts):
    assert "does not exist" in only(problems(kind, **{facts: {}})).problem


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("efs", "elasticfilesystem:DescribeFileSystems"),
        ("open-zfs", "fsx:DescribeVolumes"),
        ("disk", "ec2:DescribeVolumes"),
    ],
)
def test_storage_that_may_not_be_read_is_not_taken_for_missing(kind, call):
    denied = {"efs": {}, "open_zfs": {}, "volumes": {}, "unreadable": (f"{call}: AccessDenied",)}
    assert problems(kind, **denied) == []


def test_efs_without_a_mount_target_in_a_zone_of_the_cluster_is_refused():
    """EfsIdValidator."""
    elsewhere = replace(TARGET, availability_zone="us-west-2a")
    efs = {EFS: EfsFacts(file_system_id=EFS, targets=(elsewhere,))}
    problem = only(problems("efs", efs=efs))
    assert "nodes in us-west-2b" in problem.problem
    assert "create-mount-target" in problem.remedy


def test_a_mount_target_in_another_vpc_does_not_count():
    foreign = replace(TARGET, vpc_id="vpc-0fffffffffffffff0")
    efs = {EFS: EfsFacts(file_system_id=EFS, targets=(foreign,))}
    assert "with mount targets in no zone" in str(only(problems("efs", efs=efs)).found)


@pytest.mark.parametrize(
    ("kind", "rules", "closed"),
    [
        pytest.param("lustre", (), "988 and 1018-1023", id="lustre-nothing"),
        pytest.param(
            "lustre",
            (IngressFacts(protocol="tcp", first_port=988, last_port=988, cidr="0.0.0.0/0"),),
            "1018-1023",
            id="lustre-half",
        ),
        pytest.param(
            "open-zfs",
            (IngressFacts(protocol="tcp", first_port=111, last_port=2049, cidr="10.0.0.0/16"),),
            "20001-20003",
            id="open-zfs",
        ),
    ],
)
def test_a_file_system_that_does_not_let_the_nodes_in_is_refused(kind, rules, closed):
    """ExistingFsxNetworkingValidator."""
    facts = "file_systems" if kind == "lustre" else "open_zfs"
    identifier = LUSTRE if kind == "lustre" else OPEN_ZFS
    found = problems(
        kind, **{facts: {identifier: system(kind.upper().replace("-", ""), lets_in=rules)}}
    )
    assert f"TCP {closed};" in only(found).problem
    assert "authorize-security-group-ingress" in only(found).remedy


def test_a_rule_for_another_group_lets_no_node_of_a_new_cluster_in():
    """The groups of its nodes do not exist yet; ParallelCluster refuses such a file system."""
    rule = replace(OPEN, cidr=None, peer_group_id="sg-0fffffffffffffff0")
    target = replace(TARGET, lets_in=(rule,))
    efs = {EFS: EfsFacts(file_system_id=EFS, targets=(target,))}
    assert "2049" in only(problems("efs", efs=efs)).problem


def test_a_volume_in_another_zone_than_the_head_node_is_refused():
    """SharedEbsVolumeIdValidator."""
    far = replace(DISK, availability_zone="us-west-2a")
    assert "us-west-2b" in only(problems("disk", volumes={VOLUME: far})).problem


def test_a_volume_that_something_else_uses_is_refused_for_a_new_cluster():
    used = replace(DISK, state="in-use", attached_to="i-0123456789abcdef0")
    assert "i-0123456789abcdef0" in str(only(problems("disk", volumes={VOLUME: used})).found)
    assert problems("disk", volumes={VOLUME: used}, deployed_cluster={}) == []


def test_an_open_zfs_of_another_vpc_is_refused():
    foreign = system("OPENZFS", vpc_id="vpc-0fffffffffffffff0")
    assert "another VPC" in only(problems("open-zfs", open_zfs={OPEN_ZFS: foreign})).problem


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "ONTAP"}, "of ONTAP"),
        ({"lifecycle": "CREATING"}, "CREATING"),
        ({"volume_lifecycle": "FAILED"}, "FAILED"),
        ({"exported_to": ("10.9.0.0/16",)}, "10.9.0.0/16"),
        ({"exported_to": ()}, "nobody"),
    ],
)
def test_an_open_zfs_volume_that_nodes_cannot_mount_is_refused(changes, said):
    found = system("OPENZFS", **changes)
    assert said in str(only(problems("open-zfs", open_zfs={OPEN_ZFS: found})).found)


@pytest.mark.parametrize("clients", [("*",), ("10.0.0.0/8",), ("node.example.org",), None])
def test_an_open_zfs_volume_that_is_exported_to_the_nodes_is_accepted(clients):
    found = system("OPENZFS", exported_to=clients)
    assert problems("open-zfs", open_zfs={OPEN_ZFS: found}) == []


@pytest.mark.parametrize(("state", "accepted"), [("updating", True), ("deleting", False)])
def test_an_efs_that_nodes_cannot_mount_is_refused(state, accepted):
    efs = {EFS: EfsFacts(file_system_id=EFS, lifecycle=state, targets=(TARGET,))}
    assert (problems("efs", efs=efs) == []) == accepted


def test_a_volume_that_is_not_there_yet_is_not_said_to_be_in_use():
    problem = only(problems("disk", volumes={VOLUME: replace(DISK, state="creating")}))
    assert "in this state" in problem.problem
    assert "detach" not in problem.remedy
