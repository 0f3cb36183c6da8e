"""Every type of the `aws` stand-in through its life: made, changed, refreshed, deleted."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from sandbox.providers._protocol.values import UNKNOWN
from sandbox.providers.aws.registry import RESOURCE_TYPES
from tests.support.aws_cases import GROUP, POLICY, TEMPLATE, TRUST, Case, cases
from tests.support.batch_cases import batch_cases
from tests.support.network_cases import network_cases
from tests.support.provider_plugin import Made, Plugin, RefusedError
from tests.support.sandbox_aws import (
    BLOCK,
    NVIDIA_IMAGE,
    PRIVATE_B,
    Account,
)

STACK = "aws:cloudformation/stack:Stack"
"""Needs CloudFormation beside the account; see `test_cloudformation_stack.py`."""


@pytest.fixture(params=sorted(RESOURCE_TYPES.keys() - {STACK}))
def case(request: pytest.FixtureRequest, account: Account) -> Case:
    made = (*cases(account), *network_cases(account), *batch_cases(account))
    found = [each for each in made if each.token == request.param]
    assert found, f"{request.param} has no case here"
    return found[0]


def test_a_resource_lives_from_up_to_destroy(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs)
    assert aws.diff(case.token, made, case.inputs) == ([], [])
    if case.change is not None:
        changed = {**case.inputs, **case.change}
        assert aws.diff(case.token, made, changed) == (sorted(case.change), [])
        made = aws.update(case.token, made, changed)
        assert made.outputs | case.change == made.outputs
    aws.delete(case.token, made)
    assert aws.read(case.token, made) is None
    aws.delete(case.token, made)  # what is gone already is no error


def test_a_refresh_finds_nothing_to_change(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs)
    found = aws.read(case.token, made)
    assert found is not None
    assert found.inputs == made.inputs
    assert found.outputs == made.outputs


def test_an_import_finds_what_the_program_wrote(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs)
    imported = aws.read(case.token, Made(made.identifier, {}, {}))
    assert imported is not None
    assert imported.outputs["arn" if "arn" in made.outputs else next(iter(case.inputs))]


def test_what_aws_cannot_change_replaces(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs)
    _, replaces = aws.diff(case.token, made, {**case.inputs, **case.replacing})
    assert replaces == sorted(case.replacing)


def test_a_preview_leaves_open_what_aws_decides(aws: Plugin, case: Case) -> None:
    foreseen = aws.foreseen(case.token, case.inputs)
    for name in RESOURCE_TYPES[case.token].computed - case.inputs.keys():
        assert foreseen[name] == UNKNOWN


def test_a_property_that_the_sandbox_does_not_know_is_named(aws: Plugin, case: Case) -> None:
    _, failures = aws.check(case.token, {**case.inputs, "nope": 1})
    assert case.token in failures["nope"]
    assert "sandbox/providers/aws" in failures["nope"]


def test_a_type_that_the_sandbox_does_not_know_is_named(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="does not know the type aws:s3/bucket:Bucket"):
        aws.check("aws:s3/bucket:Bucket", {})


def test_a_function_that_the_sandbox_does_not_know_is_named(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="aws:ec2/getAmi:getAmi: the sandbox does not know"):
        aws.invoke("aws:ec2/getAmi:getAmi", {})


def test_a_subnet_is_found_by_id_only(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="finds subnets by id, not by"):
        aws.invoke("aws:ec2/getSubnet:getSubnet", {"vpcId": "vpc-0123456789abcdef0"})


def test_an_error_of_aws_names_resource_call_and_code(aws: Plugin) -> None:
    attachment = {"role": "nobody", "policyArn": POLICY}
    with pytest.raises(RefusedError, match=r"\bit: AttachRolePolicy: NoSuchEntity: .*nobody"):
        aws.create("aws:iam/rolePolicyAttachment:RolePolicyAttachment", attachment)


def test_a_name_is_the_logical_one_with_seven_digits_and_stays(aws: Plugin) -> None:
    token = "aws:ec2/placementGroup:PlacementGroup"
    first, _ = aws.check(token, {"strategy": "cluster"}, name="p5")
    again, _ = aws.check(token, {"strategy": "cluster"}, first, name="p5")
    assert first["name"] == again["name"]
    stem, _, digits = first["name"].rpartition("-")
    assert (stem, len(digits)) == ("p5", 7)
    assert int(digits, 16) >= 0


def test_a_name_never_exceeds_what_aws_allows(aws: Plugin) -> None:
    inputs, _ = aws.check("aws:iam/role:Role", {"assumeRolePolicy": TRUST}, name="x" * 80)
    assert len(inputs["name"]) == 64


def test_a_launch_template_keeps_every_interface_and_the_block(
    aws: Plugin, account: Account
) -> None:
    interfaces = [
        {
            "networkCardIndex": card,
            "deviceIndex": 0 if card else 1,
            "interfaceType": "efa-only",
            "deleteOnTermination": "true",
            "securityGroups": [account.group(f"efa-{card}")],
        }
        for card in range(4)
    ]
    wanted = {
        "imageId": NVIDIA_IMAGE,
        "instanceType": "p5.48xlarge",
        "userData": base64.b64encode(b"x").decode(),
        "networkInterfaces": interfaces,
        "instanceMarketOptions": {"marketType": "capacity-block"},
        "capacityReservationSpecification": {
            "capacityReservationTarget": {"capacityReservationId": BLOCK}
        },
        "tagSpecifications": [{"resourceType": "instance", "tags": {"a": "b"}}],
        "tags": {"c": "d"},
    }
    made = aws.create(TEMPLATE, wanted)
    assert {key: made.outputs[key] for key in wanted} == wanted
    found = aws.read(TEMPLATE, made)
    assert found is not None
    assert found.inputs == made.inputs


def test_a_changed_launch_template_is_a_new_default_version(aws: Plugin) -> None:
    inputs = {"instanceType": "c5.2xlarge", "updateDefaultVersion": True}
    made = aws.create(TEMPLATE, inputs)
    made = aws.update(TEMPLATE, made, {**inputs, "instanceType": "c5.4xlarge"})
    assert (made.outputs["latestVersion"], made.outputs["defaultVersion"]) == (2, 2)


def test_a_property_that_is_taken_away_goes(aws: Plugin) -> None:
    inputs = {"instanceType": "c5.2xlarge", "keyName": "sandbox"}
    made = aws.create(TEMPLATE, inputs)
    made = aws.update(TEMPLATE, made, {"instanceType": "c5.2xlarge"})
    assert "keyName" not in made.outputs


def test_a_group_without_capacity_fails_with_aws_reason_and_stays_in_the_state(
    aws: Plugin, account: Account
) -> None:
    template = account.template(
        "none",
        ImageId=NVIDIA_IMAGE,
        InstanceType="p5.48xlarge",
        InstanceMarketOptions={"MarketType": "capacity-block"},
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationId": BLOCK}
        },
    )
    inputs = {
        "minSize": 0,
        "desiredCapacity": 3,
        "maxSize": 3,
        "vpcZoneIdentifiers": [PRIVATE_B],
        "launchTemplate": {"id": template, "version": "1"},
    }
    with pytest.raises(RefusedError, match=r"Scaling activity \(.*\): Failed: "):
        aws.create(GROUP, inputs)
    # Without this the engine would forget a group that exists and may hold instances.
    assert "grpc-status-details-bin" in aws.last.details


def test_a_preview_of_a_change_still_knows_the_cluster_security_group(
    aws: Plugin, account: Account
) -> None:
    [cluster] = [case for case in cases(account) if case.token == "aws:eks/cluster:Cluster"]
    made = aws.create(cluster.token, cluster.inputs)
    foreseen = aws.foreseen_change(cluster.token, made, {**cluster.inputs, "tags": {"a": "b"}})
    for name in ("clusterSecurityGroupId", "vpcId"):
        assert foreseen["vpcConfig"][name] == made.outputs["vpcConfig"][name]
    assert foreseen["endpoint"] == made.outputs["endpoint"]


@pytest.mark.parametrize(
    ("token", "arguments", "answer"),
    [
        ("aws:ec2/getSubnet:getSubnet", {"id": PRIVATE_B}, {"availabilityZone": "us-west-2b"}),
        ("aws:index/getPartition:getPartition", {}, {"partition": "aws"}),
        ("aws:index/getRegion:getRegion", {}, {"region": "us-west-2"}),
        ("aws:index/getCallerIdentity:getCallerIdentity", {}, {"accountId": "123456789012"}),
    ],
)
def test_functions_answer_from_the_account(
    aws: Plugin, token: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert aws.invoke(token, arguments) | answer == aws.invoke(token, arguments)
