"""Batch through the AWS provider: changes in place and replacements."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.aws_cases import (
    DEFINITION,
    ENVIRONMENT,
    NODES,
    compute_resources,
)
from tests.support.provider_plugin import Plugin, RefusedError
from tests.support.sandbox_aws import ACCOUNT, PRIVATE_A, STANDARD_IMAGE, Account

OWN_ROLE = f"arn:aws:iam::{ACCOUNT}:role/own"


def environment(account: Account, **settings: Any) -> dict[str, Any]:
    return {"type": "MANAGED", "computeResources": compute_resources(account, **settings)}


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
def test_an_updatable_environment_changes_in_place_and_back(
    aws: Plugin, account: Account, change: dict[str, Any]
) -> None:
    """Pain 9: no custom service role, and BEST_FIT_PROGRESSIVE."""
    inputs = environment(account)
    made = aws.create(ENVIRONMENT, inputs)
    after = changed(inputs, **change)
    assert aws.diff(ENVIRONMENT, made, after) == (["computeResources"], [])
    updated = aws.update(ENVIRONMENT, made, after)
    (described,) = account.client("batch").describe_compute_environments()["computeEnvironments"]
    assert described["computeEnvironmentArn"] == made.outputs["arn"]
    found = aws.read(ENVIRONMENT, updated)
    assert found is not None
    assert aws.diff(ENVIRONMENT, found, after) == ([], [])
    before = aws.update(ENVIRONMENT, found, inputs)
    assert aws.diff(ENVIRONMENT, before, inputs) == ([], [])


@pytest.mark.parametrize(
    ("inputs", "strategy"),
    [({}, "BEST_FIT"), ({"serviceRole": OWN_ROLE}, "BEST_FIT_PROGRESSIVE")],
)
def test_an_environment_that_batch_does_not_update_is_replaced(
    aws: Plugin, account: Account, inputs: dict[str, Any], strategy: str
) -> None:
    """DF-12: BEST_FIT, or a custom service role."""
    account.role("own")
    wanted = {**environment(account, allocationStrategy=strategy), **inputs}
    made = aws.create(ENVIRONMENT, wanted)
    other = changed(wanted, instanceTypes=["c5.4xlarge"])
    assert aws.diff(ENVIRONMENT, made, other)[1]
    larger = changed(wanted, maxVcpus=64)
    assert aws.diff(ENVIRONMENT, made, larger) == (["computeResources"], [])


def test_an_invalid_environment_fails_with_batch_s_reason_and_stays_in_the_state(
    aws: Plugin, account: Account
) -> None:
    with pytest.raises(RefusedError, match=r"unexpected state 'INVALID'.*InvalidKeyPair.NotFound"):
        aws.create(ENVIRONMENT, environment(account, ec2KeyPair="nobody"))
    assert aws.kept() is not None


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
    updated = aws.update(DEFINITION, made, after)
    assert updated.outputs["revision"] == 2
    assert updated.outputs["arn"] == f"{made.outputs['arnPrefix']}:2"
    described = account.client("batch").describe_job_definitions(
        jobDefinitionName="mnp", status="ACTIVE"
    )
    assert sorted(each["revision"] for each in described["jobDefinitions"]) == left
