"""Batch through the `aws` stand-in: what changes in place, what replaces, and in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.batch_cases import (
    DEFINITION,
    ENVIRONMENT,
    LIFECYCLE,
    NODES,
    PROFILE,
    resources,
    rule,
)
from tests.support.provider_plugin import Plugin, RefusedError
from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, STANDARD_IMAGE, Account

OWN_ROLE = "arn:aws:iam::123456789012:role/own"
PROGRAM = """
import os

import pulumi

NAME = {{"fixed": {{"name": "fixed"}}, "prefix": {{"namePrefix": "nodes-"}}, "automatic": {{}}}}


class Environment(pulumi.CustomResource):
    arn: pulumi.Output[str]

    def __init__(self) -> None:
        computing = {{
            "type": "EC2",
            "allocationStrategy": os.environ["STRATEGY"],
            "maxVcpus": 16,
            "instanceTypes": [os.environ["INSTANCE_TYPE"]],
            "subnets": [{subnet!r}],
            "securityGroupIds": [{group!r}],
            "instanceRole": {profile!r},
        }}
        inputs = {{**NAME[os.environ["NAMED"]], "type": "MANAGED", "computeResources": computing}}
        token = "aws:batch/computeEnvironment:ComputeEnvironment"
        super().__init__(token, "nodes", {{**inputs, "arn": None}})


pulumi.CustomResource(
    "aws:batch/jobQueue:JobQueue",
    "queue",
    {{
        "priority": 1,
        "state": "ENABLED",
        "computeEnvironmentOrders": [{{"order": 1, "computeEnvironment": Environment().arn}}],
    }},
)
"""


def environment(account: Account, **settings: Any) -> dict[str, Any]:
    return {"type": "MANAGED", "computeResources": resources(account, **settings)}


def changed(inputs: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {**inputs, "computeResources": {**inputs["computeResources"], **settings}}


@pytest.mark.parametrize(
    "change",
    [
        {"instanceTypes": ["c5.4xlarge"]},
        {"subnets": [PRIVATE_A]},
        {"imageId": STANDARD_IMAGE},
        {"ec2KeyPair": "sandbox"},
        {"tags": {"team": "a"}},
        {"minVcpus": 8, "maxVcpus": 32},
    ],
)
def test_an_updatable_environment_changes_in_place(
    aws: Plugin, account: Account, change: dict[str, Any]
) -> None:
    """Pain 9: no service role of one's own and BEST_FIT_PROGRESSIVE."""
    inputs = environment(account)
    made = aws.create(ENVIRONMENT, inputs)
    after = changed(inputs, **change)
    assert aws.diff(ENVIRONMENT, made, after) == (["computeResources"], [])
    updated = aws.update(ENVIRONMENT, made, after)
    found = updated.outputs["computeResources"]
    assert {key: found[key] for key in change} == change
    assert aws.diff(ENVIRONMENT, updated, after) == ([], [])
    before = aws.update(ENVIRONMENT, updated, inputs).outputs["computeResources"]
    assert before.keys() - {"tags"} == {*inputs["computeResources"], "desiredVcpus"}


@pytest.mark.parametrize(
    ("inputs", "strategy"),
    [({}, "BEST_FIT"), ({"serviceRole": OWN_ROLE}, "BEST_FIT_PROGRESSIVE")],
)
def test_an_environment_that_batch_does_not_update_is_replaced(
    aws: Plugin, account: Account, inputs: dict[str, Any], strategy: str
) -> None:
    """DF-12: BEST_FIT, or a role of one's own."""
    wanted = {**environment(account, allocationStrategy=strategy), **inputs}
    made = aws.create(ENVIRONMENT, wanted)
    other = changed(wanted, instanceTypes=["c5.4xlarge"])
    assert aws.diff(ENVIRONMENT, made, other) == (["computeResources"], ["computeResources"])
    larger = changed(wanted, maxVcpus=64)
    assert aws.diff(ENVIRONMENT, made, larger) == (["computeResources"], [])


def test_a_launch_template_that_comes_replaces_and_another_version_does_not(
    aws: Plugin, account: Account
) -> None:
    template = account.template("t", KeyName="sandbox")
    inputs = environment(account)
    named = changed(inputs, launchTemplate={"launchTemplateId": template, "version": "1"})
    newer = changed(inputs, launchTemplate={"launchTemplateId": template, "version": "2"})
    made = aws.create(ENVIRONMENT, inputs)
    assert aws.diff(ENVIRONMENT, made, named)[1] == ["computeResources"]
    made = aws.create(ENVIRONMENT, named, name="other")
    assert aws.diff(ENVIRONMENT, made, newer)[1] == []
    grouped = changed(named, placementGroup="g")
    assert aws.diff(ENVIRONMENT, made, grouped)[1] == ["computeResources"]


def test_an_invalid_environment_fails_with_batch_s_reason_and_stays_in_the_state(
    aws: Plugin, account: Account
) -> None:
    with pytest.raises(RefusedError, match=r"unexpected state 'INVALID'.*InvalidKeyPair.NotFound"):
        aws.create(ENVIRONMENT, environment(account, ec2KeyPair="nobody"))
    assert "grpc-status-details-bin" in aws.last.details


def test_a_name_prefix_leaves_the_name_to_the_provider(aws: Plugin, account: Account) -> None:
    inputs = {**environment(account), "namePrefix": "nodes-"}
    names = {aws.create(ENVIRONMENT, inputs).outputs["name"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("nodes-") and len(name) == 32 for name in names)
    completed, _ = aws.check(ENVIRONMENT, inputs)
    assert "name" not in completed


def test_properties_inside_that_the_sandbox_does_not_know_are_named(
    aws: Plugin, account: Account
) -> None:
    inputs = environment(account, nope=1, launchTemplate={"launchTemplateId": "x", "nope": 2})
    _, failures = aws.check(ENVIRONMENT, inputs)
    assert {*failures} == {"computeResources.nope", "computeResources.launchTemplate.nope"}


@pytest.mark.parametrize(("deregister", "left"), [(True, [2]), (False, [1, 2])])
def test_a_changed_job_definition_is_a_new_revision(
    aws: Plugin, account: Account, *, deregister: bool, left: list[int]
) -> None:
    inputs = {
        "name": "mnp",
        "type": "multinode",
        "nodeProperties": json.dumps(NODES),
        "deregisterOnNewRevision": deregister,
    }
    made = aws.create(DEFINITION, inputs)
    after = {**inputs, "nodeProperties": json.dumps({**NODES, "numNodes": 4})}
    assert aws.diff(DEFINITION, made, after) == (["nodeProperties"], [])
    updated = aws.update(DEFINITION, made, after)
    assert updated.outputs["revision"] == 2
    assert updated.outputs["arn"] == f"{made.outputs['arnPrefix']}:2"
    described = account.client("batch").describe_job_definitions(
        jobDefinitionName="mnp", status="ACTIVE"
    )
    assert sorted(each["revision"] for each in described["jobDefinitions"]) == left
    aws.delete(DEFINITION, updated)
    assert aws.read(DEFINITION, updated) is None


def test_properties_of_the_wrong_type_of_job_definition_are_refused(aws: Plugin) -> None:
    inputs = {"type": "container", "nodeProperties": json.dumps(NODES)}
    with pytest.raises(RefusedError, match="No `nodeProperties` can be specified when `type` is"):
        aws.create(DEFINITION, inputs)
    unknown = {"type": "multinode", "nodeProperties": json.dumps({**NODES, "nope": 1})}
    with pytest.raises(RefusedError, match="Unknown parameter in nodeProperties"):
        aws.create(DEFINITION, unknown)


def test_a_life_cycle_rule_goes_before_its_successor_comes(aws: Plugin, account: Account) -> None:
    account.client("ecr").create_repository(repositoryName="made")
    made = aws.create(LIFECYCLE, {"repository": "made", "policy": rule(14)})
    assert aws.diff(LIFECYCLE, made, {"repository": "made", "policy": rule(7)})[1] == ["policy"]
    assert aws.deletes_first(LIFECYCLE, made, {"repository": "made", "policy": rule(7)})


@pytest.fixture
def program(account: Account, workspace: Workspace) -> Workspace:
    """A program of an environment of c5.2xlarge, and a queue in front of it."""
    account.role("batch")
    group = account.group("batch")
    workspace.write("__main__.py", PROGRAM.format(subnet=PRIVATE_B, group=group, profile=PROFILE))
    workspace.variables |= {"INSTANCE_TYPE": "c5.2xlarge", "NAMED": "prefix"}
    return workspace


def environments(account: Account) -> list[dict[str, Any]]:
    return account.client("batch").describe_compute_environments()["computeEnvironments"]


@pytest.mark.engine
@pytest.mark.parametrize("named", ["prefix", "automatic"])
def test_a_replaced_environment_lets_its_queue_go_to_the_new_one_first(
    account: Account, program: Workspace, named: str
) -> None:
    """Pain 9: with a name of its own each, old and new stand side by side."""
    program.variables |= {"STRATEGY": "BEST_FIT", "NAMED": named}
    program.run("up", "--yes", "--skip-preview")
    (before,) = environments(account)
    program.variables["INSTANCE_TYPE"] = "c5.4xlarge"
    program.run("up", "--yes", "--skip-preview")
    (after,) = environments(account)
    assert after["computeEnvironmentName"] != before["computeEnvironmentName"]
    assert after["computeResources"]["instanceTypes"] == ["c5.4xlarge"]
    program.run("destroy", "--yes", "--skip-preview")
    assert environments(account) == []


@pytest.mark.engine
def test_a_replaced_environment_of_a_fixed_name_deadlocks_with_its_queue(
    account: Account, program: Workspace
) -> None:
    """Pain 9, as the official provider has it."""
    program.variables |= {"STRATEGY": "BEST_FIT", "NAMED": "fixed"}
    program.run("up", "--yes", "--skip-preview")
    program.variables["INSTANCE_TYPE"] = "c5.4xlarge"
    said = program.run("up", "--yes", "--skip-preview", code=1)
    assert "Cannot delete, found existing JobQueue relationship" in said


@pytest.mark.engine
def test_an_updatable_environment_stays_what_it_is(account: Account, program: Workspace) -> None:
    program.variables["STRATEGY"] = "BEST_FIT_PROGRESSIVE"
    program.run("up", "--yes", "--skip-preview")
    (before,) = environments(account)
    program.variables["INSTANCE_TYPE"] = "c5.4xlarge"
    program.run("up", "--yes", "--skip-preview")
    (after,) = environments(account)
    assert after["computeEnvironmentArn"] == before["computeEnvironmentArn"]
    assert after["uuid"] == before["uuid"]
    program.run("up", "--yes", "--skip-preview", "--expect-no-changes")
