"""PC-11: what ParallelCluster leaves behind is named when its cluster goes."""

from __future__ import annotations

from tools.cli.retained import Retained, explanation, retained_storage


def system(kind: str, *, kept: bool = True) -> dict[str, object]:
    return {"type": kind, "mount_directory": "/data", "outlives_the_cluster": kept}


def retained(entry: object, **outputs: object) -> tuple[Retained, ...]:
    return retained_storage({"file_systems": outputs}, {"data": entry})


def test_a_protected_file_system_stays() -> None:
    assert retained({"kind": "fsx-lustre"}, data=system("FsxLustre")) == (
        Retained("data", "FsxLustre"),
    )


def test_one_without_protection_goes_with_the_cluster() -> None:
    assert retained({"kind": "ebs"}, data=system("Ebs", kept=False)) == ()


def test_one_that_was_there_before_is_nobodys_to_remove() -> None:
    assert retained({"kind": "existing-efs"}, data=system("Efs")) == ()


def test_what_the_stack_makes_itself_is_explained_elsewhere() -> None:
    """OpenZFS is a resource of the stack, and protected there."""
    assert retained({"kind": "fsx-openzfs"}, data=system("FsxOpenZfs")) == ()


def test_a_stack_without_outputs_or_storage_leaves_nothing() -> None:
    assert retained_storage({}, None) == ()


def test_the_explanation_says_how_to_find_use_and_remove_each_kind() -> None:
    kept = [Retained("fsx", "FsxLustre"), Retained("apps", "Ebs"), Retained("more", "Ebs")]
    lines = explanation(kept, cluster_name="pc-gpu", region="us-west-2").splitlines()
    assert "  storage apps (Ebs)" in lines
    assert "existing-fsx-lustre, existing-ebs" in next(line for line in lines if "kind:" in line)
    commands = [line.strip() for line in lines if line.strip().startswith("aws ")]
    assert [command.split()[1:3] for command in commands] == [
        ["fsx", "describe-file-systems"],
        ["fsx", "delete-file-system"],
        ["ec2", "describe-volumes"],
        ["ec2", "delete-volume"],
    ]
    finders = [command for command in commands if "describe" in command]
    assert all("parallelcluster:cluster-name" in line and "pc-gpu" in line for line in finders)
    assert all(command.endswith(" --region us-west-2") for command in commands)
