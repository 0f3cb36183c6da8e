"""`import --live` through boto3: its calls, and the answers of the emulated account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from botocore.client import BaseClient

from tests.support.sandbox_aws import (
    BLOCK,
    PRIVATE_A,
    PRIVATE_B,
    TINY_B,
    VPC,
    Account,
    p5_block,
    use_account,  # before boto3 makes a client
)

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from tests.support.batch_account import Batch, small  # isort: skip
from trainyard.components import clock  # isort: skip
from trainyard.components.architectures.lookup import look_up  # isort: skip
from trainyard.components.architectures.plan_stack import plan_stack  # isort: skip
from trainyard.components.architectures.prepare import examine  # isort: skip
from trainyard.components.config.load import load_stack_config  # isort: skip
from tests.support.importing import at, outcomes  # isort: skip
from tests.support.vpcs import make_vpc  # isort: skip
from tests.support.tracked import ROOT  # isort: skip
from trainyard.importing.live.clusters import read_live  # isort: skip

NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "CloudWatchAgentServerPolicy")


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield Account(running)


@pytest.fixture
def called(account: Account, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let boto3 use the account; return the operations that are called."""
    use_account(monkeypatch, account.server.access)
    operations: list[str] = []
    call: Callable[..., Any] = vars(BaseClient)["_make_api_call"]

    def recorded(client: BaseClient, operation: str, parameters: Mapping[str, Any]) -> Any:
        operations.append(operation)
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", recorded)
    return operations


@pytest.fixture(scope="module")
def cluster(account: Account) -> str:
    """Create a cluster with a managed group and a self-managed one in a Capacity Block."""
    account.cluster("train", tags={"team": "vision"})
    role = account.role("nodes")
    for policy in NODE_POLICIES:
        account.iam.attach_role_policy(
            RoleName="nodes", PolicyArn=f"arn:aws:iam::aws:policy/{policy}"
        )
    account.eks.create_nodegroup(
        clusterName="train",
        nodegroupName="services",
        scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 2},
        subnets=[PRIVATE_A, PRIVATE_B],
        instanceTypes=["c5.2xlarge"],
        nodeRole=role,
    )
    data = p5_block(account.group()) | {"IamInstanceProfile": {"Name": "nodes"}}
    account.autoscaling_group(
        "train-p5",
        account.template("train-p5", **data),
        Tags=[
            {"Key": "kubernetes.io/cluster/train", "Value": "owned", "PropagateAtLaunch": True},
            {"Key": "Name", "Value": "train-p5-Node", "PropagateAtLaunch": True},
        ],
    )
    return "train"


def test_an_eks_cluster_is_read_with_calls_that_only_read(cluster: str, called: list[str]) -> None:
    read = read_live(AccountReader(region="us-west-2"), cluster, name="")
    reading = ("Describe", "List", "Get")
    assert len(set(called)) > 12
    assert [each for each in called if not each.startswith(reading)] == []
    assert read.problems == []
    assert read.report.notes == []
    assert at(read, "tags") == {"team": "vision"}
    assert at(read, "network") == {
        "kind": "existing-vpc",
        "vpc_id": VPC,
        "public_subnet_ids": [],
        "private_subnet_ids": [PRIVATE_A, PRIVATE_B],
    }
    assert at(read, "reservations") == {"p5": {"kind": "capacity-block", "reservation_id": BLOCK}}
    assert at(read, "architecture", "system_node_group", "addon_policies") == ["cloudwatch"]
    nodes = at(read, "architecture", "node_groups", "p5")
    assert (nodes["efa_enabled"], nodes["subnet_id"], nodes["maximum"]) == (True, PRIVATE_B, 4)
    entries = outcomes(read)
    assert entries["DescribeCluster.version"] == (
        "taken over",
        "architecture.kubernetes_version",
    )
    assert "not supported" not in {
        fate for name, (fate, _) in entries.items() if name.startswith("DescribeNodegroup")
    }


def test_a_file_system_of_the_vpc_is_adopted_with_calls_that_only_read(
    account: Account, cluster: str, called: list[str]
) -> None:
    identity = account.lustre()
    called.clear()
    read = read_live(AccountReader(region="us-west-2"), cluster, name="", kind="eks", adopt=True)
    assert [each for each in called if not each.startswith(("Describe", "List", "Get"))] == []
    assert {"DescribeFileSystems", "DescribeNetworkInterfaces"} <= set(called)
    entries = at(read, "storage").values()
    (entry,) = [each for each in entries if each["adopt"]["file_system_id"] == identity]
    assert (entry["kind"], entry["availability_zone"]) == ("fsx-lustre", "us-west-2b")
    assert entry["adopt"]["security_group_id"].startswith("sg-")
    assert read.problems == []
    assert len(read.entries) > 100


def test_a_vpc_that_the_keys_describe_is_adopted_with_the_file_systems_in_it(
    account: Account, called: list[str]
) -> None:
    made = make_vpc(account.ec2)
    first, second = made.network["adopt"]["zones"].values()
    private = [each["private_subnet_id"] for each in (first, second)]
    account.cluster("adopted", resourcesVpcConfig={"subnetIds": private})
    account.eks.create_nodegroup(
        clusterName="adopted",
        nodegroupName="services",
        scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 2},
        subnets=private,
        instanceTypes=["c5.2xlarge"],
        nodeRole=account.role("adopted-nodes"),
    )
    group = account.group("adopted-servers", made.vpc_id)
    account.open_lustre(group)
    account.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=private[:1],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )
    called.clear()
    read = read_live(AccountReader(region="us-west-2"), "adopted", name="", adopt=True)
    assert [each for each in called if not each.startswith(("Describe", "List", "Get"))] == []
    assert at(read, "network") == made.network
    (entry,) = at(read, "storage").values()
    assert (entry["kind"], entry["availability_zone"]) == ("fsx-lustre", "us-west-2a")
    assert "subnet_id" not in entry
    entries = outcomes(read)
    assert entries["DescribeCluster.resourcesVpcConfig.subnetIds[0]"] == (
        "taken over",
        "network.adopt.zones.us-west-2a.private_subnet_id",
    )
    assert any(note.startswith(f"{made.vpc_id} becomes part") for note in read.report.notes)
    config = load_stack_config(read.stack.values, stack_file="Pulumi.adopted.yaml")
    plan = plan_stack(config, stack_file="Pulumi.adopted.yaml", region="us-west-2", now=clock.now())
    assert plan.network.exists
    facts = look_up(config, region="us-west-2")
    found = examine(
        config, facts, stack_file="Pulumi.adopted.yaml", region="us-west-2", now=clock.now()
    )
    (check,) = [each for each in found.checks if each.name == "adopted VPC"]
    assert check.problems == ()


def test_a_vpc_that_the_keys_do_not_describe_is_used_with_the_reason(
    account: Account, called: list[str]
) -> None:
    subnets = [PRIVATE_A, PRIVATE_B, TINY_B]
    account.cluster("odd", resourcesVpcConfig={"subnetIds": subnets})
    called.clear()
    read = read_live(AccountReader(region="us-west-2"), "odd", name="", kind="eks", adopt=True)
    assert at(read, "network", "kind") == "existing-vpc"
    assert set(at(read, "network", "private_subnet_ids")) == {*subnets}
    (note,) = [each for each in read.report.notes if "is used and not adopted" in each]
    assert note.startswith(f"{VPC} is used and not adopted: us-west-2b has two private subnets")


def test_a_slurm_cluster_is_read_from_its_bucket(account: Account, called: list[str]) -> None:
    bucket, directory = "trainyard-sandbox-data", "parallelcluster/3.16.1/clusters/slurm-x"
    text = (ROOT / "examples" / "migrate" / "pcluster.yaml").read_text(encoding="utf-8")
    put = account.client("s3").put_object
    written = [
        put(Bucket=bucket, Key=f"{directory}/configs/cluster-config.yaml", Body=body.encode())
        for body in (text, text.replace("MaxCount: 2", "MaxCount: 8"))
    ]
    parameters = {
        "ResourcesS3Bucket": bucket,
        "ArtifactS3RootDirectory": directory,
        "ConfigVersion": written[0]["VersionId"],
    }
    stack = {
        "StackName": "slurm",
        "Tags": [{"Key": "parallelcluster:version", "Value": "3.16.1"}],
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    }
    found = stack_answers(stack, AccountReader(region="us-west-2"))
    read = read_live(found, "slurm", name="", kind="parallelcluster")
    assert {"GetObject", "DescribeSubnets", "DescribeRouteTables"} <= set(called)
    resources = at(read, "architecture", "queues", "gpu", "compute_resources")
    assert resources["p5"]["maximum"] == 2
    assert at(read, "network", "vpc_id") == VPC
    assert at(read, "network", "public_subnet_ids") == ["subnet-0a000000000000001"]


def test_a_queue_of_batch_is_read_with_calls_that_only_read(
    account: Account, called: list[str]
) -> None:
    batch = Batch(account)
    batch.queue(batch.block("blocks"), batch.environment("spare"), name="batch-train")
    account.client("ecr").create_repository(repositoryName="live/train")
    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/live/train:1"
    batch.single(containerProperties=small(image=image))
    batch.client.submit_job(jobName="job", jobQueue="batch-train", jobDefinition="one")
    batch.single("other")
    called.clear()
    read = read_live(AccountReader(region="us-west-2"), "batch-train", name="", adopt=True)
    reading = ("Describe", "List", "Get")
    assert [each for each in called if not each.startswith(reading)] == []
    assert {"ListJobs", "DescribeLaunchTemplateVersions", "ListAttachedRolePolicies"} <= set(called)
    assert read.problems == []
    assert at(read, "network", "adopt", "vpc_id") == VPC
    (zone,) = at(read, "network", "adopt", "zones").values()
    assert zone["private_subnet_id"] == PRIVATE_B
    assert at(read, "reservations", "block", "reservation_id") == BLOCK
    environments = at(read, "architecture", "compute_environments")
    assert {name: each["maximum"] for name, each in environments.items()} == {
        "blocks": 2,
        "spare": 2,
    }
    assert [*at(read, "architecture", "job_definitions")] == ["one"]
    assert at(read, "architecture", "repository") == {"name": "live/train", "adopt": True}
    entries = outcomes(read)
    location = "DescribeComputeEnvironments[0].computeResources.maxvCpus"
    assert entries[location] == ("taken over", "architecture.compute_environments.blocks.maximum")


def stack_answers(stack: Mapping[str, Any], reader: AccountReader) -> AccountReader:
    """Let CloudFormation answer with a stack: the emulated one is a process of its own."""
    ask = reader.ask

    def answered(call: str, do: Any, **arguments: Any) -> Any:
        if call == "cloudformation:DescribeStacks":
            return {"Stacks": [stack]}
        return ask(call, do, **arguments)

    vars(reader)["ask"] = answered
    return reader
