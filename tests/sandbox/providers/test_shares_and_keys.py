"""`aws.ram.ResourceShareAccepter` and `aws.ec2.KeyPair`: what they take, and what comes of it."""

from __future__ import annotations

import pytest

from tests.support.aws_cases import PUBLIC_KEY, SHARE
from tests.support.provider_plugin import Plugin, RefusedError
from tests.support.sandbox_aws import Account

ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"
KEY_PAIR = "aws:ec2/keyPair:KeyPair"


def test_its_outputs_are_those_of_the_share(aws: Plugin) -> None:
    """PR-08."""
    made = aws.create(ACCEPTER, {"shareArn": SHARE})
    assert made.identifier == SHARE
    assert made.outputs["shareId"] == f"rs-{SHARE.rpartition('/')[2]}"
    assert made.outputs["senderAccountId"] == "999988887777"
    assert made.outputs["status"] == "ACTIVE"
    (reservation,) = made.outputs["resources"]
    assert reservation.endswith(":capacity-reservation/cr-0a550000000000002")


def test_a_share_that_is_accepted_already_is_refused(aws: Plugin) -> None:
    """As by the official provider, which takes a pending invitation only."""
    aws.create(ACCEPTER, {"shareArn": SHARE})
    with pytest.raises(RefusedError, match="No pending RAM Resource Share"):
        aws.create(ACCEPTER, {"shareArn": SHARE})


def test_a_share_that_is_not_there_is_refused(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="UnknownResourceException"):
        aws.create(ACCEPTER, {"shareArn": SHARE + "0"})


def test_a_key_pair_is_imported_with_its_public_half_alone(aws: Plugin, account: Account) -> None:
    """PR-02: no private key is ever in the state."""
    made = aws.create(KEY_PAIR, {"publicKey": PUBLIC_KEY})
    assert made.outputs["keyType"] == "ed25519"
    assert not [name for name in made.outputs if "private" in name.lower()]
    (pair,) = account.ec2.describe_key_pairs(KeyNames=[made.identifier])["KeyPairs"]
    assert pair["KeyPairId"] == made.outputs["keyPairId"]


def test_a_key_that_is_none_is_refused(aws: Plugin) -> None:
    with pytest.raises(RefusedError, match="ImportKeyPair"):
        aws.create(KEY_PAIR, {"publicKey": "ssh-ed25519 nonsense"})
