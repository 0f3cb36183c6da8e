"""Changes of a control plane that the account makes in place, requested by the AWS provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.provider_plugin import Plugin
from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, Account

CLUSTER = "aws:eks/cluster:Cluster"
OPEN = {
    "subnetIds": [PRIVATE_A, PRIVATE_B],
    "endpointPublicAccess": True,
    "endpointPrivateAccess": False,
    "publicAccessCidrs": ["0.0.0.0/0"],
}


@pytest.fixture
def inputs(account: Account) -> dict[str, Any]:
    return {"name": "c", "roleArn": account.role("cluster"), "version": "1.34", "vpcConfig": OPEN}


@pytest.fixture
def key(account: Account) -> dict[str, Any]:
    arn = account.client("kms").create_key()["KeyMetadata"]["Arn"]
    return {"provider": {"keyArn": arn}, "resources": ["secrets"]}


def changed(aws: Plugin, inputs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Create a cluster, change it without a replacement, and return its new description."""
    made = aws.create(CLUSTER, inputs)
    changed, replaces = aws.diff(CLUSTER, made, {**inputs, **changes})
    assert set(changes) <= set(changed)
    assert not replaces
    return aws.update(CLUSTER, made, {**inputs, **changes}).outputs


@pytest.mark.parametrize(
    "access",
    [
        pytest.param(
            {"endpointPrivateAccess": True, "publicAccessCidrs": ["203.0.113.0/24"]}, id="both"
        ),
        pytest.param({"publicAccessCidrs": ["203.0.113.0/24"]}, id="narrower"),
    ],
)
def test_the_endpoint_opens_and_closes_in_place(aws, inputs, access):
    """EKX-02."""
    found = changed(aws, inputs, vpcConfig={**OPEN, **access})["vpcConfig"]
    assert found | access == found


def test_control_plane_logs_are_turned_on_and_off_in_place(aws, inputs):
    found = changed(aws, inputs, enabledClusterLogTypes=["api", "audit"])
    assert sorted(found["enabledClusterLogTypes"]) == ["api", "audit"]
    made = aws.read(CLUSTER, aws.create(CLUSTER, {**inputs, "name": "d", **LOGS}))
    assert made is not None
    quiet = aws.update(CLUSTER, made, {**inputs, "name": "d"})
    assert not quiet.outputs.get("enabledClusterLogTypes")


LOGS = {"enabledClusterLogTypes": ["api"]}


def test_the_version_goes_up_in_place(aws, inputs):
    """EKX-10."""
    assert changed(aws, inputs, version="1.35")["version"] == "1.35"


def test_a_key_is_added_in_place(aws, inputs, key):
    assert changed(aws, inputs, encryptionConfig=key)["encryptionConfig"] == key
