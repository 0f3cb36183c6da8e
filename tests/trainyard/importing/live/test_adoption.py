"""What `import --live --adopt` lets the stack own, and why not the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.importing import at, outcomes
from tests.support.live_answers import (
    FILE_SYSTEM,
    OTHER,
    PRIVATE,
    PUBLIC,
    cluster,
    file_system,
    managed,
    scaling_group,
)
from tests.trainyard.importing.live.support.live_batch import (
    LiveAccount,
    batch_account,
    definition,
    environment,
)
from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.importing.imported import Imported
from trainyard.importing.live.clusters import read_live

ID = FILE_SYSTEM
GROUP = "sg-0123456789abcdef0"
CLOUDFORMATION = [{"Key": "aws:cloudformation:stack-name", "Value": "data"}]


def eks_account(*systems: dict[str, Any], **answers: Any) -> LiveAccount:
    interface = {"Groups": [{"GroupId": GROUP}]}
    groups = [managed(), scaling_group()]
    return LiveAccount(
        {
            "eks:DescribeCluster": {"cluster": cluster()},
            "eks:ListNodegroups": {"nodegroups": ["services"]},
            "eks:DescribeNodegroup": {"nodegroup": groups[0]},
            "fsx:DescribeFileSystems": {"FileSystems": [*systems]},
            "ec2:DescribeNetworkInterfaces": {"NetworkInterfaces": [interface]},
            **answers,
        },
        {PUBLIC: "internet-gateway", PRIVATE: "nat", OTHER: "nat"},
    )


def read(account: LiveAccount, name: str = "train", *, adopt: bool = True) -> Imported:
    return read_live(account, name, name="", adopt=adopt)  # pyright: ignore[reportArgumentType]


def test_a_file_system_of_the_vpc_is_adopted_with_all_that_it_is():
    found = read(eks_account(file_system()))
    assert at(found, "storage") == {
        "data-sets": {
            "kind": "fsx-lustre",
            "adopt": {"file_system_id": ID, "security_group_id": GROUP},
            "subnet_id": PRIVATE,
            "storage_capacity_gib": 4800,
            "storage_type": "SSD",
            "deployment_type": "PERSISTENT_2",
            "per_unit_storage_throughput": 250,
            "compression": "NONE",
            "weekly_maintenance": "7:03:00",
            "metadata_iops": 6000,
            "backup_retention_days": 7,
            "backup_time": "05:00",
        }
    }
    assert outcomes(found)["DescribeFileSystems[0].KmsKeyId"][0] == "implied"
    assert any(note.startswith(f"{ID} becomes part of the stack") for note in found.report.notes)


def test_the_stack_file_of_an_adopted_file_system_is_valid():
    values = read(eks_account(file_system())).stack.values
    values["architecture"]["node_groups"] = {
        "cpu": {
            "instance_type": "c5.2xlarge",
            "purchase_option": "on-demand",
            "desired": 1,
            "maximum": 1,
        }
    }
    config = load_stack_config(values, stack_file="Pulumi.train.yaml")
    plan = plan_stack(config, stack_file="Pulumi.train.yaml", region="us-west-2", now=clock.now())
    (planned,) = plan.file_systems  # pyright: ignore[reportAttributeAccessIssue]
    assert (planned.file_system_id, planned.security_group_id) == (ID, GROUP)
    assert planned.deletion_protection


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"Tags": [{"Key": "trainyard:cluster", "Value": "prod"}]}, "part of the stack prod"),
        ({"Tags": CLOUDFORMATION}, "part of the CloudFormation stack data"),
        ({"StorageType": "INTELLIGENT_TIERING"}, "Intelligent-Tiering"),
        ({"SubnetIds": [PUBLIC]}, f"its subnet {PUBLIC} is no private subnet"),
    ],
)
def test_a_file_system_that_cannot_be_adopted_is_mounted_with_the_reason(
    changed: dict[str, Any], why: str
):
    stacks = {"cloudformation:DescribeStacks": {"Stacks": [{"StackName": "data"}]}}
    found = read(eks_account(file_system(**changed), **stacks), "train")
    (entry,) = at(found, "storage").values()
    assert entry == {
        "kind": "existing-fsx-lustre",
        "file_system_id": ID,
        "security_group_id": GROUP,
    }
    assert any(why in note for note in found.report.notes)


def test_a_file_system_that_a_deleted_cloudformation_stack_retained_is_adopted():
    found = read(eks_account(file_system(Tags=CLOUDFORMATION)))
    assert [each["kind"] for each in at(found, "storage").values()] == ["fsx-lustre"]


@pytest.mark.parametrize(
    "changed",
    [{"VpcId": "vpc-other"}, {"FileSystemType": "OPENZFS"}, {"Lifecycle": "DELETING"}],
)
def test_other_file_systems_are_not_read(changed: dict[str, Any]):
    assert "storage" not in read(eks_account(file_system(**changed))).stack.values


def test_two_file_systems_of_one_name_have_entries_of_their_own():
    other = file_system(FileSystemId="fs-00000000000000001")
    assert [*at(read(eks_account(file_system(), other)), "storage")] == [
        "data-sets",
        "fs-00000000000000001",
    ]


def test_nothing_is_adopted_without_the_option():
    account = eks_account(file_system())
    assert "storage" not in read(account, adopt=False).stack.values
    assert "fsx:DescribeFileSystems" not in account.calls


def registry(*names: str, owner: str = "") -> dict[str, Any]:
    """Return the answers of ECR about repositories, which the stack of a name may have."""
    tags = [{"Key": "trainyard:cluster", "Value": owner}] if owner else []

    def described(**asked: Any) -> dict[str, Any] | None:
        (name,) = asked["repositoryNames"]
        arn = f"arn:aws:ecr:us-west-2:123456789012:repository/{name}"
        return (
            {"repositories": [{"repositoryName": name, "repositoryArn": arn}]}
            if name in names
            else None
        )

    return {"DescribeRepositories": described, "ListTagsForResource": {"tags": tags}}


def batch(*images: str, **answers: Any) -> Imported:
    definitions = [
        definition(f"job-{number}", tags={"trainyard:cluster": "train"}, type="container",
                   containerProperties={"image": image}, nodeProperties=None)
        for number, image in enumerate(images)
    ]  # fmt: skip
    found = {"DescribeJobDefinitions": {"jobDefinitions": definitions}, **answers}
    return read(batch_account(**found))


HERE = "123456789012.dkr.ecr.us-west-2.amazonaws.com"


def test_the_repository_of_the_images_of_jobs_is_adopted():
    found = batch(
        f"{HERE}/team/train:1", f"{HERE}/team/train@sha256:" + "0" * 64, **registry("team/train")
    )
    assert at(found, "architecture", "repository") == {"name": "team/train", "adopt": True}
    job = at(found, "architecture", "job_definitions", "job-0")
    assert job["image"] == f"{HERE}/team/train:1"
    config = load_stack_config(found.stack.values, stack_file="Pulumi.train.yaml")
    plan = plan_stack(config, stack_file="Pulumi.train.yaml", region="us-west-2", now=clock.now())
    assert plan.repository is not None  # pyright: ignore[reportAttributeAccessIssue]
    assert plan.repository.adopt  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("image", "answers"),
    [
        (f"{HERE}/train:1", registry("train", owner="prod")),
        (f"{HERE}/train:1", registry()),
        (f"{HERE.replace('west', 'east')}/train:1", registry("train")),
        (f"{HERE.replace('1', '2')}/train:1", registry("train")),
        ("public.ecr.aws/docker/library/busybox:1", registry("train")),
    ],
    ids=["of-a-stack", "missing", "other-region", "other-account", "public"],
)
def test_a_repository_that_is_not_there_or_of_a_stack_is_not_adopted(
    image: str, answers: dict[str, Any]
):
    assert "repository" not in at(batch(image, **answers), "architecture")


def test_a_second_repository_is_named_with_the_reason():
    found = batch(f"{HERE}/one:1", f"{HERE}/two:1", **registry("one", "two"))
    assert at(found, "architecture", "repository", "name") == "one"
    (note,) = [note for note in found.report.notes if "two" in note]
    assert "a stack has one repository" in note


def test_an_environment_without_jobs_has_no_repository():
    account = batch_account(
        DescribeComputeEnvironments={"computeEnvironments": [environment()]},
        DescribeJobDefinitions={"jobDefinitions": []},
        **registry("train"),
    )
    assert "repository" not in at(read(account), "architecture")
