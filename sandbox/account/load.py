"""Puts the account of `fixture.yaml` into moto."""

from __future__ import annotations

from moto.ec2.models import ec2_backends
from moto.logs.models import logs_backends

from trainyard.sandbox.account.ecs_images import load_ecs_images
from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.account.images import load_images
from trainyard.sandbox.account.network import load_key_pairs, load_network
from trainyard.sandbox.account.parallelcluster_images import load_parallelcluster_images
from trainyard.sandbox.account.reservations import (
    load_placement_groups,
    load_reservation_groups,
    load_reservations,
    load_resource_shares,
)
from trainyard.sandbox.account.storage import (
    load_buckets,
    load_file_systems,
    load_kms_keys,
    load_policies,
    load_repositories,
    load_security_groups,
)
from trainyard.sandbox.account.workspaces import load_workspaces
from trainyard.sandbox.aws.batch.scheduler import LOG_GROUP as BATCH_LOG_GROUP
from trainyard.sandbox.aws.environment import ACCOUNT_ID


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
    load_reservation_groups(ec2, account["reservation_groups"])
    load_resource_shares(ec2, account["resource_shares"])
    load_images(region, account["images"])
    load_ecs_images(ec2)
    load_parallelcluster_images(ec2, account["parallelcluster_images"])
    load_security_groups(ec2, account["security_groups"], account["vpc"])
    load_buckets(region, account["buckets"])
    load_file_systems(region, account["file_systems"])
    load_kms_keys(region, account["kms_keys"])
    load_policies(account["policies"])
    load_repositories(region, account["repositories"])
    load_workspaces(region, account["prometheus_workspaces"])
    # Batch creates it with the first job of an account, and never deletes it.
    logs_backends[ACCOUNT_ID][region].create_log_group(BATCH_LOG_GROUP, {})
