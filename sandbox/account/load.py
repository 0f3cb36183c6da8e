"""Puts the account of `fixture.yaml` into moto."""

from __future__ import annotations

from moto.ec2.models import ec2_backends

from sandbox.account.fixture import fixture
from sandbox.account.images import load_images
from sandbox.account.network import load_key_pairs, load_network
from sandbox.account.reservations import load_placement_groups, load_reservations
from sandbox.aws.environment import ACCOUNT_ID


def load_account(region: str) -> None:
    """Fill the account; expects an empty one.

    Args:
        region: `us-west-2`; the fixture's zones are those of this region.
    """
    account = fixture()
    ec2 = ec2_backends[ACCOUNT_ID][region]
    load_network(ec2, account)
    load_key_pairs(ec2, account["key_pairs"])
    load_placement_groups(ec2, account["placement_groups"])
    load_reservations(ec2, account["reservations"])
    load_images(region, account["images"])
