"""Objects that exist become resources of a stack, in the real engine and without a change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox_aws import PRIVATE_B, VPC, Account
from tests.support.tracked import ROOT

LOGS = "/aws/eks/p5/cluster"
PROGRAM = f"""
import os, sys
import pulumi
sys.path.insert(0, {str(ROOT / "src")!r})
from trainyard.components.batch.container_repository import *
from trainyard.components.batch.plan import RepositoryPlan
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.eks.cluster import make_log_group
from trainyard.components.eks.plan import LogGroupPlan
from trainyard.components.storage.fsx_lustre import *
from trainyard.components.storage.storage_plan import plan_new

wanted = NewFsxLustre(
    kind="fsx-lustre",
    per_unit_storage_throughput=125,
    storage_capacity_gib=int(os.environ["CAPACITY"]),
    compression="NONE",
    adopt={{"file_system_id": os.environ["FILE_SYSTEM"]}},
)
plan = plan_new("data", wanted, subnets=({PRIVATE_B!r},), tags={{"trainyard:cluster": "p5"}})
FsxLustre("p5-data", FsxLustreArgs(plan=plan, vpc_id={VPC!r}, subnet_id={PRIVATE_B!r}))
repository = RepositoryPlan(
    name="team/train", untagged_days=14, kept_images=1, deletion_protection=True, adopt=True
)
ContainerRepository("p5", ContainerRepositoryArgs(plan=repository, tags={{"team": "other"}}))
logs = LogGroupPlan(name={LOGS!r}, retention_days=int(os.environ["DAYS"]), adopted=True)
make_log_group(logs, {{"team": "other"}}, pulumi.ComponentResource("test:index:Cluster", "p5"))
"""
POLICY = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {
                    "tagStatus": "any",
                    "countType": "imageCountMoreThan",
                    "countNumber": 900,
                },
                "action": {"type": "expire"},
            }
        ]
    }
)


def made(account: Account) -> str:
    """Create objects as others do; return the id of the file system."""
    group = account.group("servers")
    account.open_lustre(group)
    found = account.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.12",
        StorageCapacity=2400,
        SubnetIds=[PRIVATE_B],
        SecurityGroupIds=[group],
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 125,
            "AutomaticBackupRetentionDays": 7,
        },
        Tags=[{"Key": "Name", "Value": "datasets"}],
    )
    ecr = account.client("ecr")
    ecr.create_repository(repositoryName="team/train", tags=[{"Key": "team", "Value": "vision"}])
    ecr.put_lifecycle_policy(repositoryName="team/train", lifecyclePolicyText=POLICY)
    logs = account.client("logs")
    logs.create_log_group(logGroupName=LOGS, tags={"team": "vision"})
    logs.put_retention_policy(logGroupName=LOGS, retentionInDays=1096)
    logs.create_log_stream(logGroupName=LOGS, logStreamName="audit")
    return found["FileSystem"]["FileSystemId"]


def seen(account: Account) -> list[Any]:
    """Return what the account has of them."""
    fsx, ecr = account.client("fsx"), account.client("ecr")
    (repository,) = ecr.describe_repositories(repositoryNames=["team/train"])["repositories"]
    return [
        fsx.describe_file_systems()["FileSystems"],
        repository,
        ecr.list_tags_for_resource(resourceArn=repository["repositoryArn"])["tags"],
        ecr.get_lifecycle_policy(repositoryName="team/train")["lifecyclePolicyText"],
        *seen_logs(account),
    ]


def seen_logs(account: Account) -> list[Any]:
    """Return the log group with its streams and tags; nothing if it does not exist."""
    logs = account.client("logs")
    return [
        (
            group,
            logs.describe_log_streams(logGroupName=LOGS)["logStreams"],
            logs.list_tags_for_resource(resourceArn=group["arn"].removesuffix(":*"))["tags"],
        )
        for group in logs.describe_log_groups(logGroupNamePrefix=LOGS)["logGroups"]
    ]


@pytest.mark.engine
def test_what_is_adopted_is_not_changed_or_replaced_and_data_is_not_deleted(
    account: Account, workspace: Workspace
) -> None:
    workspace.write("__main__.py", PROGRAM)
    workspace.variables |= {
        "FILE_SYSTEM": made(account),
        "CAPACITY": "1200",
        "DAYS": "1096",
    }
    before = seen(account)
    refused = workspace.run("up", "--yes", "--skip-preview", code=1)
    assert "unable to replace resource" in refused
    assert seen(account) == before

    workspace.variables["CAPACITY"] = "2400"
    workspace.run("up", "--yes", "--skip-preview")
    assert seen(account) == before
    workspace.run("preview", "--refresh", "--expect-no-changes")

    exported = json.loads(workspace.run("stack", "export"))["deployment"]["resources"]
    adopted = {each["urn"].rpartition("::")[2]: each for each in exported if "id" in each}
    for name in ("p5-data-file-system", "p5-repository"):
        assert adopted[name]["protect"], name
        assert adopted[name]["retainOnDelete"], name
    assert "p5-lifecycle" not in adopted

    ((group, streams, tags),) = seen_logs(account)
    workspace.variables["DAYS"] = "30"
    workspace.run("up", "--yes", "--skip-preview")
    assert seen_logs(account) == [({**group, "retentionInDays": 30}, streams, tags)]

    workspace.run("state", "unprotect", "--all", "--yes")
    workspace.run("destroy", "--yes", "--skip-preview")
    assert [*seen(account), (group, streams, tags)] == before, "destroy deletes the logs alone"
