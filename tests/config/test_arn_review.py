"""ARNs of another partition or region than the stack."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P4D
from tests.support.eks import changed, refusals
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import plan_from, raw_config

KEY = "arn:aws:kms:us-west-2:123456789012:key/mrk-0123456789abcdef0123456789abcdef"
UUID_KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
POLICY = "arn:aws:iam::123456789012:policy/team/ReadData"
ENVIRONMENT = "architecture__compute_environments__p4d__iam_policies"
PLACE = "architecture.compute_environments.p4d.iam_policies[0]"


@pytest.mark.parametrize(
    ("arn", "said"),
    [
        pytest.param(KEY.replace("us-west-2", "us-east-1"), "different region", id="region"),
        pytest.param(KEY.replace(":aws:", ":aws-cn:"), "partition aws-cn", id="partition"),
    ],
)
def test_a_key_that_the_stack_cannot_use_is_refused(arn: str, said: str) -> None:
    found = refusals(changed(architecture__secrets_key_arn=arn))
    assert said in found["architecture.secrets_key_arn"].problem


def test_a_key_of_the_region_is_used() -> None:
    assert plan_from(changed(architecture__secrets_key_arn=KEY)).secrets_key_arn == KEY


@pytest.mark.parametrize(
    ("policies", "refused"),
    [
        ([POLICY], False),
        (["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"], False),
        (["service-role/AmazonEBSCSIDriverPolicy"], False),
        ([POLICY.replace("arn:aws:", "arn:aws-us-gov:")], True),
    ],
)
def test_policies_are_those_of_the_partition(policies: list[str], refused: Any) -> None:
    assert (PLACE in refusals(raw_config(P4D, **{ENVIRONMENT: policies}))) is refused


def test_the_arn_of_a_variable_or_a_tag_can_be_of_any_region() -> None:
    arn = "arn:aws:sqs:eu-west-1:123456789012:jobs"
    assert not refusals(raw_config(P4D, tags={"queue": arn}))


@pytest.mark.parametrize(
    "key", [UUID_KEY.replace("us-west-2", "us-east-1"), UUID_KEY.replace("arn:aws:", "arn:aws-cn:")]
)
def test_a_key_with_a_uuid_of_another_region_is_refused(key: str) -> None:
    problem = refusals(changed(architecture__secrets_key_arn=key))["architecture.secrets_key_arn"]
    assert problem.found == key
    assert plan_from(changed(architecture__secrets_key_arn=UUID_KEY)).secrets_key_arn == UUID_KEY


def test_a_key_of_a_volume_in_another_region_is_refused() -> None:
    key = f"{UUID_KEY.replace('us-west-2', 'us-east-1')}"
    volume = {"kind": "ebs", "mount_directory": "/apps", "size_gib": 200, "kms_key_arn": key}
    assert "storage.apps.kms_key_arn" in refusals(raw_p4de(storage={"apps": volume}))


def test_a_provider_of_another_region_is_refused() -> None:
    token = "arn:aws:lambda:us-east-1:123456789012:function:provider"
    raw = raw_p4de(architecture__deployment={"provider_service_token": token})
    assert "architecture.deployment.provider_service_token" in refusals(raw)


def test_a_tag_that_is_called_like_a_field_is_not_an_arn_of_the_stack() -> None:
    """A tag can hold any text."""
    elsewhere = KEY.replace("us-west-2", "us-east-1")
    assert plan_from(changed(tags={"kms_key_arn": elsewhere})).tags["kms_key_arn"] == elsewhere
