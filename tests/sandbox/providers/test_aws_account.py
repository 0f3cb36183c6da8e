"""Resources that the AWS provider creates in the emulated account, and data that it reads there."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.aws_cases import PUBLIC_KEY, SHARE, TEMPLATE
from tests.support.provider_plugin import Plugin, RefusedError
from tests.support.sandbox_aws import ACCOUNT, BLOCK, NVIDIA_IMAGE, PRIVATE_B, Account

ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"
KEY_PAIR = "aws:ec2/keyPair:KeyPair"


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
    found = aws.read(TEMPLATE, made)
    assert found is not None
    assert aws.diff(TEMPLATE, found, wanted) == ([], [])
    kept = [(each["networkCardIndex"], each["securityGroups"]) for each in interfaces]
    shown = found.outputs["networkInterfaces"]
    assert [(each["networkCardIndex"], each["securityGroups"]) for each in shown] == kept


def test_a_changed_launch_template_is_a_new_default_version(aws: Plugin, account: Account) -> None:
    inputs = {"instanceType": "c5.2xlarge", "keyName": "sandbox", "updateDefaultVersion": True}
    made = aws.create(TEMPLATE, inputs)
    aws.update(TEMPLATE, made, {"instanceType": "c5.4xlarge", "updateDefaultVersion": True})
    ids = [made.identifier]
    (template,) = account.ec2.describe_launch_templates(LaunchTemplateIds=ids)["LaunchTemplates"]
    assert (template["LatestVersionNumber"], template["DefaultVersionNumber"]) == (2, 2)
    (version,) = account.ec2.describe_launch_template_versions(
        LaunchTemplateId=made.identifier, Versions=["$Default"]
    )["LaunchTemplateVersions"]
    assert version["LaunchTemplateData"]["InstanceType"] == "c5.4xlarge"
    assert "KeyName" not in version["LaunchTemplateData"]


@pytest.mark.parametrize(
    ("token", "arguments", "answer"),
    [
        ("aws:ec2/getSubnet:getSubnet", {"id": PRIVATE_B}, {"availabilityZone": "us-west-2b"}),
        ("aws:index/getPartition:getPartition", {}, {"partition": "aws"}),
        ("aws:index/getRegion:getRegion", {}, {"region": "us-west-2"}),
        ("aws:index/getCallerIdentity:getCallerIdentity", {}, {"accountId": ACCOUNT}),
    ],
)
def test_functions_answer_from_the_account(
    aws: Plugin, token: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> None:
    found = aws.invoke(token, arguments)
    assert found | answer == found


def test_an_accepted_share_shows_its_reservation(aws: Plugin) -> None:
    """PR-08."""
    made = aws.create(ACCEPTER, {"shareArn": SHARE})
    assert made.identifier == SHARE
    assert made.outputs["shareId"] == f"rs-{SHARE.rpartition('/')[2]}"
    assert made.outputs["senderAccountId"] == "999988887777"
    assert made.outputs["status"] == "ACTIVE"
    (reservation,) = made.outputs["resources"]
    assert reservation.endswith(":capacity-reservation/cr-0a550000000000002")


def test_a_key_pair_is_imported_with_its_public_half_alone(aws: Plugin, account: Account) -> None:
    """PR-02: the state never contains a private key."""
    made = aws.create(KEY_PAIR, {"publicKey": PUBLIC_KEY})
    assert made.outputs["keyType"] == "ed25519"
    assert not [name for name in made.outputs if "private" in name.lower()]
    (pair,) = account.ec2.describe_key_pairs(KeyNames=[made.identifier])["KeyPairs"]
    assert pair["KeyPairId"] == made.outputs["keyPairId"]


def test_a_key_that_is_none_is_refused(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="ImportKeyPair"):
        aws.create(KEY_PAIR, {"publicKey": "ssh-ed25519 nonsense"})
