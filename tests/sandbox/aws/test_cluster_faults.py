"""Faults of clusters in the account: nodes that do not join, reservations that end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import (
    BLOCK,
    NVIDIA_IMAGE,
    ODCR,
    PRIVATE_B,
    Account,
    p5_block,
    refused,
    target,
)
from trainyard.diagnosis.node_groups import NodeGroupPlace, read_group, what_it_lacks
from trainyard.diagnosis.waiting_job import read_queued_job, why_it_waits
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.aws.unimplemented import FAILURE_CODE
from trainyard.sandbox.faults.kinds import is_named
from trainyard.sandbox.faults.schedule import FAULTS, FaultScheduleError, parse_schedule
from trainyard.workspace.accounts import SandboxAccount

OUTSIDE = {"happens": "node-never-joins"}
SANDBOX = NodeGroupPlace(region="us-west-2", cluster="c", account=SandboxAccount())


@pytest.fixture(autouse=True)
def no_fault_afterwards() -> Iterator[None]:
    yield
    FAULTS.use([])


def use(*entries: dict[str, Any]) -> None:
    FAULTS.use(parse_schedule(list(entries)))


def why(batch: Batch, job: str, environment: str = "env", **settings: Any) -> str:
    """Return the status reason of a waiting job."""
    queued = read_queued_job(
        batch.client,
        batch.account.ec2,
        batch.job(job),
        environment=environment,
        stack="batch",
        reservation_ids=settings.get("reservation_ids", ()),
    )
    return "\n".join(why_it_waits(queued))


def test_a_job_whose_nodes_stay_outside_waits_without_a_word_until_they_register(
    account: Account,
) -> None:
    """Batch gives no reason for it; see job_stuck_in_runnable.html."""
    batch = Batch(account)
    batch.queue(batch.block())
    batch.multinode()
    use({**OUTSIDE, "node_group": "env"})
    job = batch.submit("mnp")
    batch.wait(60)
    assert (batch.job(job)["status"], batch.job(job).get("statusReason")) == ("RUNNABLE", None)
    assert len(account.instances()) == 2
    FAULTS.use([])
    batch.wait(1)
    assert batch.job(job)["status"] == "STARTING"


def test_nodes_that_stay_outside_are_not_launched_again_and_again(account: Account) -> None:
    """Batch scales to the jobs' demand, and counts nodes that have not registered."""
    batch = Batch(account)
    batch.queue(batch.environment(maxvCpus=64))
    batch.single()
    use({**OUTSIDE, "node_group": "env"})
    batch.submit("one")
    batch.wait(60)
    assert len(account.instances()) == 1


def test_a_job_that_finds_its_block_full_names_who_holds_it(account: Account) -> None:
    """The nodes of another stack in the same Capacity Block, for which a job would wait."""
    owned = [{"ResourceType": "instance", "Tags": [{"Key": "trainyard:cluster", "Value": "p5-cb"}]}]
    template = account.template("held", **p5_block(account.group("p5")), TagSpecifications=owned)
    account.autoscaling_group("held", template, DesiredCapacity=2)
    batch = Batch(account)
    batch.queue(batch.block())
    batch.multinode()
    job = batch.submit("mnp")
    assert batch.job(job)["statusReason"].startswith("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY")
    said = why(batch, job, "p5", reservation_ids=[BLOCK])
    assert said.startswith(f"reservation {BLOCK} (2 x p5.48xlarge) is full: 2 used by p5-cb")


def test_a_job_of_an_environment_that_takes_none_is_told_so(account: Account) -> None:
    batch = Batch(account)
    environment = batch.block()
    batch.queue(environment)
    batch.multinode()
    batch.client.update_compute_environment(computeEnvironment=environment, state="DISABLED")
    said = why(batch, batch.submit("mnp"))
    assert said.startswith("disabled compute environment: env;")


def create(account: Account, name: str = "c-p5-node-group-0c5d") -> dict[str, Any]:
    account.cluster()
    return create_group(account, name)


def create_group(account: Account, name: str) -> dict[str, Any]:
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName=name,
        nodeRole=account.role("node"),
        subnets=[PRIVATE_B],
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 2},
    )
    return described(account, name)


def described(account: Account, name: str) -> dict[str, Any]:
    return account.eks.describe_nodegroup(clusterName="c", nodegroupName=name)["nodegroup"]


def test_a_managed_group_whose_nodes_stay_outside_fails_with_their_ids(account: Account) -> None:
    """https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html, NodeCreationFailure."""
    use({**OUTSIDE, "node_group": "p5"})
    group = create(account)
    (issue,) = group["health"]["issues"]
    assert (group["status"], issue["code"]) == ("CREATE_FAILED", "NodeCreationFailure")
    running = [each["InstanceId"] for each in account.instances()]
    assert sorted(issue["resourceIds"]) == sorted(running)
    FAULTS.use([])
    assert described(account, group["nodegroupName"])["status"] == "ACTIVE"


def lacks(account: Account, output: dict[str, Any], joined: list[str]) -> str:
    facts = read_group(
        account.eks, account.autoscaling, cluster="c", name="p5", output=output, mapped_roles=()
    )
    return "\n".join(what_it_lacks(facts, joined, SANDBOX))


def test_instances_that_never_joined_are_named_and_those_that_did_are_not(account: Account) -> None:
    group = create(account)
    first, second = (each["InstanceId"] for each in account.instances())
    said = lacks(account, {"node_group": group["nodegroupName"]}, [first])
    assert f"node group p5: {second} are running but have not joined" in said
    assert first not in said


def test_a_role_that_nobody_lets_in_is_the_first_cause(account: Account) -> None:
    account.cluster()
    template = account.template("p5", **p5_block(account.group("p5")))
    account.autoscaling_group("c-p5-nodes", template, DesiredCapacity=2)
    role = account.role("node")
    output = {"autoscaling_group": "c-p5-nodes", "role_arn": role}
    assert f"1. access: the role {role} must be in aws-auth" in lacks(account, output, [])
    account.eks.create_access_entry(clusterName="c", principalArn=role, type="EC2_LINUX")
    assert "1. user data" in lacks(account, output, [])


def test_a_group_without_capacity_says_what_ec2_says(account: Account) -> None:
    account.cluster()
    template = account.template("p5", **p5_block(account.group("p5")))
    account.autoscaling_group("first", template, DesiredCapacity=2)
    account.autoscaling_group("c-p5-nodes", template, DesiredCapacity=2)
    said = lacks(account, {"autoscaling_group": "c-p5-nodes"}, [])
    assert "0 of 2 instances are in service; EC2 says: Could not launch" in said
    assert "ReservationCapacityExceeded" in said


def test_a_group_that_is_created_is_explained_without_its_autoscaling_group(
    account: Account,
) -> None:
    account.cluster()
    TRANSITIONS.scale = 1
    group = create_group(account, "n")
    assert "resources" not in group
    said = lacks(account, {"node_group": "n"}, [])
    assert said == (
        "node group p5: EKS has not created its Auto Scaling group, so none of its 2 instances is "
        "launched"
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("p5", True),
        ("p5-cb-p5-nodes-0c5d1e2", True),
        ("p5-cb-p5-node-group-a1b2c3d", True),
        ("batch-p5-p520261122abcdef", True),
        ("p5-cb-system-node-group-a1b2c3d", False),
        ("p5-cb-p5e-nodes-0c5d1e2", False),
        ("p5-cb", False),
    ],
)
def test_a_group_is_meant_by_its_own_name_only(name: str, meant: bool) -> None:
    """Not by the name of the cluster, which is `p5-cb` here."""
    assert is_named("p5", name) is meant


def expires(reservation: str, call: str) -> dict[str, Any]:
    return {"happens": "reservation-expires", "reservation": reservation, "call": call}


def test_a_block_that_ends_between_template_and_group_leaves_the_group_empty(
    account: Account,
) -> None:
    """The group has the reason in its activities; see https://docs.aws.amazon.com/autoscaling."""
    use(expires(BLOCK, "autoscaling:CreateAutoScalingGroup"))
    template = account.template("p5", **p5_block(account.group("p5")))
    group = account.autoscaling_group("p5", template, DesiredCapacity=2)
    assert (group["Instances"], account.reservation(BLOCK)["State"]) == ([], "expired")
    activities = account.autoscaling.describe_scaling_activities(AutoScalingGroupName="p5")
    assert "InvalidCapacityReservationState" in activities["Activities"][0]["StatusMessage"]


def test_a_reservation_that_is_cancelled_under_its_instances_lets_them_run(
    account: Account,
) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html"""
    data = {
        "ImageId": NVIDIA_IMAGE,
        "InstanceType": "p5.48xlarge",
        "CapacityReservationSpecification": target(ODCR),
    }
    template = account.template("p5", **data)
    use(expires(ODCR, "autoscaling:Describe*"))
    group = account.autoscaling_group("p5", template, DesiredCapacity=1)
    assert account.reservation(ODCR)["State"] == "cancelled"
    assert [each["LifecycleState"] for each in group["Instances"]] == ["InService"]


def test_a_reservation_that_the_account_does_not_have_is_refused_where_it_should_end(
    account: Account,
) -> None:
    """A misspelled id would otherwise have no effect, and count as an occurrence."""
    use(expires("cr-0000000000000dead", "ec2:DescribeVpcs"))
    with refused(FAILURE_CODE, "cr-0000000000000dead", "sandbox inventory"):
        account.ec2.describe_vpcs()
    assert account.ec2.describe_vpcs()["Vpcs"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param(OUTSIDE, "needs `node_group`", id="no-group"),
        pytest.param({"happens": "device-plugin-never-ready"}, "needs `plugin`", id="no-plugin"),
        pytest.param(
            {"happens": "reservation-expires", "call": "ec2:RunInstances"},
            "needs `reservation`",
            id="no-reservation",
        ),
        pytest.param(
            {"happens": "reservation-expires", "reservation": BLOCK}, "needs `call`", id="no-call"
        ),
        pytest.param(
            {**OUTSIDE, "node_group": "p5", "call": "ec2:RunInstances"},
            "call: node-never-joins has no such key",
            id="call-of-what-no-call-has",
        ),
        pytest.param(
            {"happens": "device-plugin-never-ready", "plugin": "efa", "nth": 2},
            "nth: device-plugin-never-ready has no such key",
            id="nth-of-what-no-call-has",
        ),
        pytest.param(expires("p5", "ec2:RunInstances"), "reservation: ", id="no-id"),
    ],
)
def test_an_entry_that_says_too_little_or_what_cannot_be_is_refused(
    entry: dict[str, Any], said: str
) -> None:
    with pytest.raises(FaultScheduleError, match=said):
        parse_schedule([entry])
