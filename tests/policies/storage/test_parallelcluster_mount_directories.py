"""Mount directories of a ParallelCluster's shared storage (F10)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import cluster_with, rendered_cluster, shared_storage
from trainyard.policies.rules.storage.parallelcluster_mount_directories import POLICY


def existing(name: str, directory: str):
    settings = {"FileSystemId": f"fs-{name}"}
    return {
        "Name": name,
        "MountDir": directory,
        "StorageType": "FsxLustre",
        "FsxLustreSettings": settings,
    }


def efs(name: str, directory: object):
    return {"Name": name, "MountDir": directory, "StorageType": "Efs", "EfsSettings": {}}


MANY = [existing(f"data{index}", f"/data{index}") for index in range(21)]
VIOLATING = (
    (cluster_with(shared_storage(directory="/opt/slurm")),),
    (cluster_with(shared_storage(), efs("home", "/fsx")),),
    (cluster_with(shared_storage(), efs("home", "/fsx/home")),),
    (cluster_with(shared_storage(), shared_storage("second", "/second")),),
    (cluster_with(*MANY),),
)
CLEAN = ((cluster_with(shared_storage(), efs("home", "/home"), *MANY[:20]),),)


@pytest.mark.parametrize(
    ("program", "fault"),
    list(
        zip(
            VIOLATING,
            (
                "its storage fsx is mounted in /opt/slurm, which the nodes need; set",
                "its storage home is mounted in /fsx and fsx in /fsx, where one hides the other",
                "its storage home is mounted in /fsx/home and fsx in /fsx, where one hides",
                "it creates 2 file systems of FSx, and ParallelCluster creates at most 1",
                "it mounts 21 file systems of FSx, and ParallelCluster mounts at most 20",
            ),
            strict=True,
        )
    ),
    ids=["reserved", "same", "nested", "too-many-made", "too-many-mounted"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert message.startswith(f"slurm: {fault}")


def test_a_directory_without_its_slash_is_the_same():
    """ParallelCluster adds the slash."""
    assert len(check(POLICY, cluster_with(shared_storage(directory="usr"))).messages) == 1


@pytest.mark.parametrize(
    "made",
    [
        CLEAN[0][0],
        cluster_with(shared_storage(), efs("second", "/fsx2")),
        cluster_with(efs("computed", {"Ref": "Directory"}), shared_storage()),
        cluster_with(),
    ],
    ids=["own", "same-beginning", "computed", "none"],
)
def test_passes(made):
    assert check(POLICY, made).messages == []


def test_what_the_program_renders_is_what_the_rule_reads():
    assert check(POLICY, rendered_cluster("pc-gpu", lambda cluster: None)).messages == []
    clash = rendered_cluster(
        "pc-gpu", lambda cluster: cluster["SharedStorage"][0].update(MountDir="/fsx/apps")
    )
    (message,) = check(POLICY, clash).messages
    assert "where one hides the other" in message
