"""Mount directories of shared storage: unique, and without conflicts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import RAW
from tests.support.shared_storage import EBS, EFS, LUSTRE, config_with, planned


def directories(*wanted: str, base=None, **changes):
    storage = {
        f"s{index}": {**EBS, "mount_directory": directory} for index, directory in enumerate(wanted)
    }
    return planned(config_with(storage, **({"base": base} if base else {}), **changes)).problems


def test_an_entry_without_a_directory_is_refused_with_the_command():
    """DF-08: every file system has its own directory."""
    wanted = {key: value for key, value in LUSTRE.items() if key != "mount_directory"}
    problem = planned({"fsx": wanted}).problems["storage.fsx.mount_directory"]
    assert problem.problem.startswith("is missing")
    assert problem.remedy.endswith("storage.fsx.mount_directory' /fsx")


@pytest.mark.parametrize("wanted", [("/fsx", "/apps"), ("/home",), ("/shared", "/shared2")])
def test_directories_beside_one_another_are_accepted(wanted):
    assert directories(*wanted) == {}


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        (("/shared", "/shared"), "the same as that of storage.s0"),
        (("/shared", "/shared/efs"), "in conflict with that of storage.s0"),
        (("/shared/efs", "/shared"), "in conflict with that of storage.s0"),
    ],
)
def test_one_directory_inside_of_another_is_refused(wanted, refused):
    """TRN-27, DF-09: two entries are two file systems, each in its own directory."""
    problem = directories(*wanted)["storage.s1.mount_directory"]
    assert refused in problem.problem
    assert problem.allowed == "directories that do not contain one another"


@pytest.mark.parametrize(
    "directory", ["/opt/slurm", "/opt", "/tmp", "/var", "/NONE", "/opt/parallelcluster/shared"]
)
def test_directories_of_the_nodes_themselves_are_refused(directory):
    problem = directories(directory)["storage.s0.mount_directory"]
    assert problem.found == directory
    assert "operating system of the nodes needs" in problem.problem


@pytest.mark.parametrize(
    ("system", "directory", "refused"),
    [
        ("alinux2023", "/home/ec2-user", True),
        ("ubuntu2204", "/home/ubuntu/data", True),
        ("ubuntu2204", "/home/ec2-user", False),
        ("rocky9", "/home/rocky", True),
        ("alinux2023", "/home", False),
    ],
)
def test_nobody_is_locked_out(system, directory, refused):
    found = directories(directory, architecture__operating_system=system)
    assert bool(found) is refused


def test_the_disks_of_instances_and_storage_have_different_directories():
    """PC-24: p4de has local disks, mounted at `scratch_directory`."""
    problem = directories("/local_scratch/data")["storage.s0.mount_directory"]
    assert "/local_scratch, where queues.compute-gpu mounts" in problem.problem
    # Its scratch directory is the usual one already.
    assert problem.remedy.endswith("storage.s0.mount_directory' /s0")


def test_the_disks_of_the_head_node_are_in_scratch():
    problem = directories("/scratch", architecture__head_node__instance_type="g4dn.8xlarge")
    assert "head_node mounts" in problem["storage.s0.mount_directory"].problem


def test_a_queue_without_disks_leaves_scratch_free():
    resources = {"c5": {"instance_type": "c5.2xlarge", "maximum": 2}}
    changes = {"architecture__queues__compute__compute_resources": resources}
    assert directories("/scratch", base=RAW, **changes) == {}
    assert directories("/scratch", base=RAW)  # g4dn has disks


def test_every_clash_is_said_at_once():
    storage = {"a": {**EBS, "mount_directory": "/tmp"}, "b": {**EFS, "mount_directory": "/usr"}}
    assert len(planned(storage).problems) == 2


def scratch(directory: str, instance_type: str = "g4dn.8xlarge"):
    queue = {
        "scratch_directory": directory,
        "compute_resources": {"nodes": {"instance_type": instance_type, "maximum": 2}},
    }
    return directories("/shared", architecture__queues={"compute": queue})


@pytest.mark.parametrize("directory", ["/opt", "/opt/slurm", "/usr", "/home", "/home/data"])
def test_the_disks_of_nodes_hide_no_directory_that_these_need(directory):
    problem = scratch(directory)["architecture.queues.compute.scratch_directory"]
    assert problem.found == directory
    assert problem.remedy.endswith("scratch_directory' /local_scratch")


@pytest.mark.parametrize("directory", ["/scratch", "/mnt", "/tmp", "/opt/scratch"])
def test_the_disks_of_nodes_may_be_in_an_empty_directory(directory):
    assert scratch(directory) == {}


def test_nodes_without_disks_hide_nothing():
    assert scratch("/home", "c5n.18xlarge") == {}


@pytest.mark.parametrize(
    ("name", "directory"),
    [("tmp", "/tmp"), ("fsx", "/fsx"), ("home", "/home/ec2-user"), ("Sys", "/sys/a")],
)
def test_the_fix_is_another_directory_that_is_free(name: str, directory: str):
    storage = {
        "other": {**EFS, "mount_directory": "/fsx/data"},
        name: {**EBS, "mount_directory": directory},
    }
    problems = planned(storage).problems.values()
    assert problems
    for problem in problems:
        moved = problem.remedy.rpartition(" ")[2]
        assert moved not in (problem.found, "/fsx", "/home")
        assert not planned(moved_to(storage, problem.path.split(".")[2], moved)).problems


def moved_to(storage: dict[str, Any], name: str, directory: str) -> dict[str, Any]:
    return {**storage, name: {**storage[name], "mount_directory": directory}}


@pytest.mark.parametrize("directory", ["/proc/data", "/sys/fs/data"])
def test_nothing_is_mounted_in_a_file_system_of_the_kernel(directory: str):
    problem = directories(directory)["storage.s0.mount_directory"]
    assert "file system of the kernel" in problem.problem


@pytest.mark.parametrize(
    ("directory", "noted"),
    [("/usr/local", True), ("/opt/slurm/jobs", True), ("/opt/apps", False), ("/mnt/data", False)],
)
def test_a_directory_below_one_of_the_system_is_noted(directory: str, *, noted: bool):
    found = planned({"a": {**EBS, "mount_directory": directory}})
    assert not found.problems
    said = "\n".join(found.review.notes)
    assert ("hides what the image has there" in said) == noted
