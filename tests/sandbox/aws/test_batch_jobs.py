"""Jobs: their states, the nodes that Batch scales for them, and why one waits or fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.batch_account import Batch, container, devices, small
from tests.support.processes import until
from tests.support.sandbox_aws import ACCOUNT, BLOCK, PRIVATE_B, Account, refused
from trainyard.sandbox.account.images import NVIDIA, STANDARD
from trainyard.sandbox.aws.server import AwsServer

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


@pytest.fixture
def batch(account: Account) -> Batch:
    return Batch(account)


@pytest.fixture
def block(batch: Batch) -> Batch:
    """A queue of two p5.48xlarge in a Capacity Block."""
    batch.queue(batch.block())
    return batch


def states(batch: Batch, job: str, seconds: int = 12) -> list[str]:
    """Return the states of a job, each once."""
    found = [batch.job(job)["status"]]
    for _ in range(seconds):
        batch.wait(1)
        if batch.job(job)["status"] != found[-1]:
            found.append(batch.job(job)["status"])
    return found


def test_a_multinode_job_runs_on_nodes_of_the_block_and_they_go_again(block: Batch) -> None:
    block.multinode()
    job = block.submit("mnp")
    nodes = block.account.instances()
    assert [each["InstanceType"] for each in nodes] == ["p5.48xlarge"] * 2
    assert {each["CapacityReservationId"] for each in nodes} == {BLOCK}
    assert {each["SubnetId"] for each in nodes} == {PRIVATE_B}
    assert {each["ImageId"] for each in nodes} == {NVIDIA}
    assert {each["InstanceLifecycle"] for each in nodes} == {"capacity-block"}
    assert {len(each["NetworkInterfaces"]) for each in nodes} == {33}
    assert states(block, job) == ["STARTING", "RUNNING", "SUCCEEDED"]
    assert block.account.instances() == []
    assert block.account.reservation(BLOCK)["AvailableInstanceCount"] == 2


def test_a_job_succeeds_by_itself() -> None:
    with AwsServer() as server:
        batch = Batch(Account(server))
        batch.queue(batch.environment())
        batch.single()
        job = batch.submit("one")

        def has_succeeded() -> bool:
            server.access.ask("POST", "clock?advance_seconds=5")
            return batch.job(job)["status"] == "SUCCEEDED"

        until(has_succeeded, "the job to succeed")


def test_numbers_of_nodes_are_overridden_within_the_definition(block: Batch) -> None:
    block.multinode(4)
    job = block.submit("mnp", nodeOverrides={"numNodes": 2})
    assert block.job(job)["nodeProperties"]["numNodes"] == 2
    assert states(block, job)[-1] == "SUCCEEDED"
    with refused("ClientException", "between 1 and 1000"):
        block.submit("mnp", nodeOverrides={"numNodes": 1001})
    fixed = [{"targetNodes": "0:1", "container": container()}]
    block.multinode(2, "fixed", nodeRangeProperties=fixed)
    with refused("ClientException", "open upper boundary"):
        block.submit("fixed", nodeOverrides={"numNodes": 1})


def test_containers_are_overridden_for_one_submission(block: Batch) -> None:
    block.multinode()
    change = {"command": ["hostname"], "environment": [{"name": "NCCL_DEBUG", "value": "INFO"}]}
    overrides = [{"targetNodes": "0:", "containerOverrides": change}]
    job = block.submit("mnp", nodeOverrides={"nodePropertyOverrides": overrides})
    (nodes,) = block.job(job)["nodeProperties"]["nodeRangeProperties"]
    assert {key: nodes["container"][key] for key in change} == change
    overrides[0]["targetNodes"] = "0:1"
    with refused("ClientException", "has the node ranges 0:"):
        block.submit("mnp", nodeOverrides={"nodePropertyOverrides": overrides})
    with refused("ClientException", "use nodeOverrides"):
        block.submit("mnp", containerOverrides=change)


@pytest.mark.parametrize(
    ("nodes", "settings", "reason"),
    [
        (3, {}, "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"),
        (
            2,
            {"vcpus": 193, "resourceRequirements": []},
            "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
        ),
    ],
)
def test_a_job_that_never_fits_says_so_and_waits(
    block: Batch, nodes: int, settings: dict[str, Any], reason: str
) -> None:
    own = container(**{"memory": 1000, **settings})
    block.multinode(nodes, nodeRangeProperties=[{"targetNodes": "0:", "container": own}])
    job = block.submit("mnp")
    assert block.job(job)["status"] == "RUNNABLE"
    assert block.job(job)["statusReason"].startswith(reason)
    assert block.account.instances() == []


def test_capacity_that_is_not_there_holds_a_job_up_and_takes_none(batch: Batch) -> None:
    """Three nodes do not fit into a Capacity Block of two."""
    batch.queue(batch.block(nodes=3))
    batch.multinode(3)
    job = batch.submit("mnp")
    assert batch.job(job)["statusReason"].startswith("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - ")
    assert batch.account.reservation(BLOCK)["AvailableInstanceCount"] == 2
    batch.client.cancel_job(jobId=job, reason="too many")
    assert (batch.job(job)["status"], batch.job(job)["statusReason"]) == ("FAILED", "too many")


def test_the_next_job_waits_for_the_nodes_and_takes_them(block: Batch) -> None:
    block.multinode()
    first, second = block.submit("mnp"), block.submit("mnp")
    before = {each["InstanceId"] for each in block.account.instances()}
    assert block.job(second)["status"] == "RUNNABLE"
    assert states(block, first, 5)[-1] == "SUCCEEDED"
    assert block.job(second)["status"] in ("STARTING", "RUNNING")
    assert {each["InstanceId"] for each in block.account.instances()} == before


def test_a_multinode_job_shares_no_node_and_others_do(batch: Batch) -> None:
    batch.queue(batch.environment())
    batch.single()
    for _ in range(4):
        batch.submit("one")
    assert len(batch.account.instances()) == 1
    alone = [{"targetNodes": "0:", "container": small()}]
    batch.multinode(1, nodeRangeProperties=alone)
    batch.submit("mnp")
    nodes = batch.account.instances()
    assert [each["ImageId"] for each in nodes] == [STANDARD] * 2
    running = batch.client.describe_jobs(jobs=[batch.submit("one")])["jobs"]
    assert running[0]["status"] == "RUNNABLE"


def test_multinode_jobs_run_on_no_spot(batch: Batch) -> None:
    """G1."""
    spot = batch.environment(type="SPOT", allocationStrategy="SPOT_PRICE_CAPACITY_OPTIMIZED")
    batch.queue(spot)
    batch.multinode()
    with refused("ClientException", "not supported in compute environments that use Spot"):
        batch.submit("mnp")
    batch.single()
    batch.submit("one")
    (node,) = batch.account.instances()
    assert node["InstanceLifecycle"] == "spot"


def test_a_container_with_more_efa_devices_than_the_node_does_not_start(block: Batch) -> None:
    own = container(linuxParameters=devices(33))
    block.multinode(nodeRangeProperties=[{"targetNodes": "0:", "container": own}])
    job = block.submit("mnp")
    assert states(block, job) == ["STARTING", "FAILED"]
    assert "/dev/infiniband/uverbs32" in block.job(job)["statusReason"]


def test_an_image_of_the_own_registry_must_be_there(batch: Batch) -> None:
    batch.queue(batch.environment())
    image = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/mine:1"
    batch.single(containerProperties=small(image=image), retryStrategy={"attempts": 2})
    job = batch.submit("one")
    assert states(batch, job)[-1] == "FAILED"
    found = batch.job(job)
    assert "CannotPullContainerError: repository mine not found" in found["statusReason"]
    assert len(found["attempts"]) == 2
    ecr = batch.account.client("ecr")
    ecr.create_repository(repositoryName="mine")
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST})
    ecr.put_image(repositoryName="mine", imageManifest=manifest, imageTag="1")
    assert states(batch, batch.submit("one"))[-1] == "SUCCEEDED"


def test_a_job_that_is_terminated_gives_its_nodes_back(block: Batch) -> None:
    block.multinode()
    job = block.submit("mnp")
    block.wait(2)
    block.client.cancel_job(jobId=job, reason="nothing happens")
    assert block.job(job)["status"] == "RUNNING"
    block.client.terminate_job(jobId=job, reason="enough")
    assert (block.job(job)["status"], block.job(job)["statusReason"]) == ("FAILED", "enough")
    block.wait(6)
    assert block.account.instances() == []


def test_a_job_whose_instance_goes_fails(block: Batch) -> None:
    block.multinode()
    job = block.submit("mnp")
    ids = [each["InstanceId"] for each in block.account.instances()]
    block.account.ec2.terminate_instances(InstanceIds=ids[:1])
    block.wait(1)
    assert block.job(job)["status"] == "FAILED"
    assert block.job(job)["statusReason"] == f"Host EC2 (instance {ids[0]}) terminated."


@pytest.mark.parametrize(("terminate", "status"), [(True, "FAILED"), (False, "SUCCEEDED")])
def test_jobs_outlive_an_infrastructure_update_unless_it_ends_them(
    batch: Batch, *, terminate: bool, status: str
) -> None:
    batch.queue(batch.environment())
    batch.single()
    job = batch.submit("one")
    batch.client.update_compute_environment(
        computeEnvironment="env",
        updatePolicy={"terminateJobsOnUpdate": terminate, "jobExecutionTimeoutMinutes": 30},
        computeResources={"instanceTypes": ["c5.4xlarge"]},
    )
    assert states(batch, job)[-1] == status
    assert batch.account.instances() == []


def test_jobs_are_listed_by_state(batch: Batch) -> None:
    batch.queue(batch.environment())
    batch.single()
    job = batch.submit("one")
    listed = batch.client.list_jobs(jobQueue="queue", jobStatus="STARTING")["jobSummaryList"]
    assert [each["jobId"] for each in listed] == [job]
    assert batch.client.list_jobs(jobQueue="queue")["jobSummaryList"] == []


@pytest.mark.parametrize(
    ("value", "is_listed"),
    [("job", True), ("JOB", True), ("Jo*", True), ("jo", False), ("ob*", False)],
)
def test_jobs_are_listed_by_name_or_time_in_any_state(
    batch: Batch, value: str, is_listed: bool
) -> None:
    """https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html, `filters`"""
    batch.queue(batch.environment())
    batch.single()
    job = batch.submit("one")
    named = [{"name": "JOB_NAME", "values": [value]}]
    listed = batch.client.list_jobs(jobQueue="queue", filters=named)["jobSummaryList"]
    assert [each["jobId"] for each in listed] == ([job] if is_listed else [])
    for time, newer in (("0", [job]), ("9999999999999", [])):
        after = [{"name": "AFTER_CREATED_AT", "values": [time]}]
        listed = batch.client.list_jobs(jobQueue="queue", filters=after)["jobSummaryList"]
        assert [each["jobId"] for each in listed] == newer
    with refused("ClientException", "JOB_DEFINITION"):
        batch.client.list_jobs(
            jobQueue="queue", filters=[{"name": "JOB_DEFINITION", "values": ["one"]}]
        )
    with refused("ClientException", "Only one filter"):
        batch.client.list_jobs(jobQueue="queue", filters=named * 2)


def test_nothing_is_submitted_to_a_disabled_queue_or_with_an_inactive_definition(
    batch: Batch,
) -> None:
    batch.queue(batch.environment())
    with refused("ClientException", "Job definition one does not exist"):
        batch.submit("one")
    batch.single()
    with refused("SandboxNotImplemented", "arrayProperties"):
        batch.submit("one", arrayProperties={"size": 2})
    batch.client.deregister_job_definition(jobDefinition="one:1")
    with refused("ClientException", "not ACTIVE"):
        batch.submit("one:1")
    batch.client.update_job_queue(jobQueue="queue", state="DISABLED")
    with refused("ClientException", "DISABLED"):
        batch.submit("one:1")
