"""PC-11: objects of a deleted cluster that `destroy` finds in the account."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.parallelcluster.provider.test_building import cluster, nodes, stored
from tests.support.sandbox_aws import Account, use_account
from trainyard.deployment.retained import (
    Kind,
    retained_objects,
    what_failed_creations_left,
    what_stays,
)
from trainyard.sandbox.parallelcluster.provider import clusters
from trainyard.workspace.recovery.account import LookupAccount as Read

EVERYTHING = {"fsx", "efs", "ebs"}


@pytest.fixture
def clients(account: Account, monkeypatch: pytest.MonkeyPatch) -> Any:
    use_account(monkeypatch, account.server.access)
    return account.client


def test_kept_storage_is_found_with_its_security_groups(clients: Any) -> None:
    clusters.build(clients, cluster(nodes(), stored=stored(retained=True)))
    clusters.remove(clients, "c", retained=EVERYTHING)
    found = list(retained_objects(Read("us-west-2"), "c"))
    assert [(each.kind, each.name) for each in found] == [
        (Kind.LUSTRE, "fsx"),
        (Kind.EFS, "efs"),
        (Kind.EBS, "ebs"),
        (Kind.GROUP, ""),
        (Kind.GROUP, ""),
    ]
    for look in (what_stays, what_failed_creations_left):
        said = look("c", "us-west-2")
        assert all(each.identifier in said for each in found)


def test_of_a_cluster_that_keeps_nothing_there_is_nothing_to_say(clients: Any) -> None:
    clusters.build(clients, cluster(nodes(), stored=stored()))
    clusters.remove(clients, "c", retained=())
    assert what_stays("c", "us-west-2") == ""


def test_what_is_kept_of_another_cluster_is_not_said_of_this_one(clients: Any) -> None:
    clusters.build(clients, cluster(stored=stored(retained=True)))
    clusters.remove(clients, "c", retained=EVERYTHING)
    assert what_stays("another", "us-west-2") == ""


def test_an_account_that_cannot_be_asked_is_no_reason_to_fail(
    clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "could not be looked up" in what_stays("c", "us-west-2")
    # The reason why the `up` failed is already there.
    assert what_failed_creations_left("c", "us-west-2") == ""
