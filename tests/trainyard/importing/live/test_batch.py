"""The answers about AWS Batch become the stack file that means the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.importing import at, document_with, outcomes
from tests.trainyard.importing.live.support.live_batch import (
    BLOCK,
    DEFINITION,
    PRIVATE,
    PUBLIC,
    VPC,
    LiveAccount,
    batch_account,
    definition,
    environment,
    queue,
    template,
)
from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.importing.formats import BATCH_ANSWERS
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.live.answers import document_of
from trainyard.importing.live.batch.conversion import KEYS
from trainyard.importing.live.clusters import ClusterMissingError, read_live
from trainyard.importing.report import FATES
from trainyard.importing.source import leaves

OTHERS = ["cpu", "other"]


def read(account: LiveAccount, name: str = "train") -> Imported:
    return read_live(account, name, name="")  # pyright: ignore[reportArgumentType]


def several(**tags: str) -> LiveAccount:
    """Return an account with two connected environments and one that is not; `gpu` has tags."""
    environments = [environment(tags=tags), *(environment(each) for each in OTHERS)]
    queues = [queue("train", "gpu", "cpu"), queue("small", "cpu"), queue("alone", "other")]
    return batch_account(
        DescribeComputeEnvironments={"computeEnvironments": environments},
        DescribeJobQueues={"jobQueues": queues},
    )


def environments_of(found: Imported) -> list[str]:
    return [*at(found, "architecture", "compute_environments")]


def test_a_queue_is_a_stack_in_the_vpc_of_its_environments():
    found = read(batch_account())
    assert (found.stack.name, found.stack.region) == ("train", "us-west-2")
    assert at(found, "network") == {
        "kind": "existing-vpc",
        "vpc_id": VPC,
        "public_subnet_ids": [],
        "private_subnet_ids": [PRIVATE],
    }
    assert at(found, "reservations") == {
        "block": {"kind": "capacity-block", "reservation_id": BLOCK}
    }
    assert at(found, "architecture", "compute_environments", "gpu") == {
        "instance_type": "p5.48xlarge",
        "purchase_option": "block",
        "efa_enabled": True,
        "maximum": 4,
        "queue_priority": 7,
    }
    job = at(found, "architecture", "job_definitions", "pretrain")
    assert (job["compute_environment"], job["nodes"], job["accelerators"]) == ("gpu", 2, 8)
    assert job["iam_policies"] == ["arn:aws:iam::123456789012:policy/checkpoints"]


def test_the_stack_file_can_be_planned():
    found = read(batch_account())
    config = load_stack_config(found.stack.values, stack_file="Pulumi.train.yaml")
    plan = plan_stack(config, stack_file="Pulumi.train.yaml", region="us-west-2", now=clock.now())
    assert [each.name for each in plan.node_pools] == ["gpu"]


def test_only_calls_that_read_are_made():
    account = batch_account()
    read(account)
    operations = {each.partition(":")[2] for each in account.calls}
    assert len(operations) > 8
    assert {
        each for each in operations if not each.startswith(("Describe", "List", "Get"))
    } == set()


@pytest.mark.parametrize("name", ["train", "small", "gpu", "cpu"])
def test_what_a_queue_connects_belongs_together(name: str):
    assert environments_of(read(several(), name)) == ["gpu", "cpu"]


@pytest.mark.parametrize("tag", ["aws:cloudformation:stack-name", "trainyard:cluster"])
def test_the_name_of_the_stack_that_created_an_environment_finds_it(tag: str):
    found = read(several(**{tag: "prod"}), "prod")
    assert environments_of(found) == ["gpu", "cpu"]
    assert outcomes(found)[f"DescribeComputeEnvironments[0].tags.{tag}"][0] == "dropped"


@pytest.mark.parametrize(
    ("environments", "name"),
    [([environment()], "other"), ([environment() | {"status": "DELETING"}], "gpu")],
    ids=["unknown", "deleting"],
)
def test_a_name_that_no_environment_and_no_queue_has_is_no_cluster(
    environments: list[dict[str, Any]], name: str
):
    account = batch_account(
        DescribeComputeEnvironments={"computeEnvironments": environments},
        DescribeJobQueues={"jobQueues": []},
    )
    with pytest.raises(ClusterMissingError, match=f"no eks or .* cluster '{name}'"):
        read(account, name)


def test_tags_of_environments_are_those_of_the_stack_once():
    environments = [environment(tags={"team": "vision"}), environment("cpu", tags={"team": "x"})]
    found = read(
        batch_account(
            DescribeComputeEnvironments={"computeEnvironments": environments},
            DescribeJobQueues={"jobQueues": [queue("train", "gpu", "cpu")]},
        )
    )
    assert at(found, "tags") == {"team": "vision"}
    assert outcomes(found)["DescribeComputeEnvironments[1].tags.team"][0] == "dropped"


def test_definitions_are_those_of_the_jobs_in_the_queue_in_their_newest_revision():
    listed = [
        *(definition(revision=number) for number in (2, 10, 9)),
        definition("never-run"),
        definition("tagged", tags={"trainyard:cluster": "train"}),
    ]
    found = read(batch_account(DescribeJobDefinitions={"jobDefinitions": listed}))
    answered = found.document.at("DescribeJobDefinitions")
    assert [(each["jobDefinitionName"], each["revision"]) for each in answered] == [
        ("pretrain", 10),
        ("tagged", 1),
    ]


def test_jobs_of_every_status_are_asked_for_and_few_pages_are_enough():
    pages = 0

    def jobs(**asked: Any) -> dict[str, Any]:
        assert asked["filters"] == [{"name": "AFTER_CREATED_AT", "values": ["0"]}]
        return {"jobSummaryList": [{"jobDefinition": f"{DEFINITION}pretrain:1"}]}

    class Busy(LiveAccount):
        def pages(self, call: str, do: Any, *, next_key: str = "nextToken", **given: Any):
            nonlocal pages
            while call == "batch:ListJobs":
                pages += 1
                yield jobs(**given)
            yield from super().pages(call, do, next_key=next_key, **given)

    account = batch_account()
    assert "pretrain" in at(
        read(Busy(account.answers, account.routes)), "architecture", "job_definitions"
    )
    assert pages == 10


def test_the_text_of_user_data_is_not_read():
    found = read(batch_account())
    data = found.document.at("DescribeLaunchTemplateVersions", 0, "LaunchTemplateData")
    assert data["UserData"] == "2 lines"
    assert "secret" not in str(found.document.root)


def test_user_data_with_comments_only_is_dropped():
    commented = template(UserData="IyBub3RoaW5nCg==")
    found = read(
        batch_account(DescribeLaunchTemplateVersions={"LaunchTemplateVersions": [commented]})
    )
    location = "DescribeLaunchTemplateVersions[0].LaunchTemplateData.UserData"
    assert outcomes(found)[location][0] == "dropped"


def test_a_public_subnet_of_nodes_is_in_the_list_of_public_ones():
    found = read(
        batch_account(
            DescribeComputeEnvironments={
                "computeEnvironments": [environment(subnets=[PUBLIC, PRIVATE])]
            }
        )
    )
    assert at(found, "network", "public_subnet_ids") == [PUBLIC]
    assert at(found, "network", "private_subnet_ids") == [PRIVATE]


def test_an_environment_of_fargate_is_not_supported():
    fargate = environment(type="FARGATE", instanceTypes=[])
    account = batch_account(DescribeComputeEnvironments={"computeEnvironments": [fargate]})
    entries = outcomes(read(account))
    assert entries["DescribeComputeEnvironments[0].computeResources.maxvCpus"][0] == "not supported"


def test_every_field_of_the_api_is_in_the_report():
    conversion = BATCH_ANSWERS.conversion()
    document = document_of("train", document_with(conversion.KEYS, {}))
    found = imported_as(BATCH_ANSWERS, document, name="", region="us-west-2")
    assert found.problems == []
    fields = [location for location, _ in leaves(found.document.root)]
    assert [entry.location for entry in found.entries] == fields
    assert len(fields) > 600
    for entry in found.entries:
        assert entry.claim.fate in FATES
        assert entry.claim.ours or entry.claim.why, entry


def test_a_row_of_the_table_of_fates_is_for_a_field_of_the_api():
    conversion = BATCH_ANSWERS.conversion()
    assert [path for path in conversion.OUTCOMES.rows if path not in conversion.KEYS.kinds] == []


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        # https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
        ("DescribeComputeEnvironments.computeResources.maxvCpus", "integer"),
        ("DescribeComputeEnvironments.computeResources.instanceTypes", "list"),
        ("DescribeComputeEnvironments.computeResources.tags", "map"),
        # https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeProperties.html
        ("DescribeJobDefinitions.nodeProperties.nodeRangeProperties", "sections"),
        ("DescribeJobDefinitions.nodeProperties.nodeRangeProperties.container.image", "text"),
        # https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_Repository.html
        ("DescribeRepositories.createdAt", "text"),
        ("DescribeRepositories.imageScanningConfiguration.scanOnPush", "boolean"),
    ],
)
def test_the_fields_of_answers_have_the_kinds_of_the_api(field: str, kind: str):
    assert KEYS.kinds[tuple(field.split("."))] == kind
