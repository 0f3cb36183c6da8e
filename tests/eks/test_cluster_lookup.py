"""Facts of an existing cluster, from the sandbox's account."""

from __future__ import annotations

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import (
    PRIVATE_A,
    STANDARD_IMAGE,
    Account,
    use_account,  # before boto3 makes a client
)

from trainyard.components.eks.lookup import look_up_cluster  # isort: skip
from trainyard.components.eks.facts import ClusterFacts  # isort: skip
from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from tests.support.kubernetes import DEFAULT, PREVIOUS


@pytest.fixture(scope="module")
def account():
    """One account for all tests: each has a cluster with its own name."""
    with AwsServer(region="us-west-2", keep_time=False) as server:
        yield Account(server)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name)[-40:].strip("-")


@pytest.fixture
def reader(account: Account, monkeypatch: pytest.MonkeyPatch) -> AccountReader:
    use_account(monkeypatch, account.server.access)
    return AccountReader(region="us-west-2")


def look_up(reader: AccountReader, name: str, **arguments: Any) -> ClusterFacts | None:
    """Look up a cluster; no control plane runs behind this account."""
    return look_up_cluster(reader, name, aws_auth_of=lambda *_: {"mapRoles": "[]"}, **arguments)


def fill(account: Account, name: str, mode: str) -> str:
    account.cluster(name, accessConfig={"authenticationMode": mode})
    node = account.role(f"{name}-node")
    account.eks.create_nodegroup(
        clusterName=name,
        nodegroupName="n",
        nodeRole=node,
        subnets=[PRIVATE_A],
        instanceTypes=["c5.2xlarge"],
    )
    account.eks.create_addon(clusterName=name, addonName="kube-proxy")
    return node


def test_a_cluster_that_does_not_exist_is_none(name, reader):
    assert look_up(reader, name) is None
    assert reader.unreadable == []


def test_a_cluster_is_read_with_versions_and_access(account, name, reader):
    node = fill(account, name, "API_AND_CONFIG_MAP")
    found = look_up(reader, name)
    assert found is not None
    assert (found.status, found.kubernetes_version) == ("ACTIVE", DEFAULT)
    assert found.authentication_mode == "API_AND_CONFIG_MAP"
    assert found.access_entries[node] == "EC2_LINUX"
    assert found.access_entry_arns == set(found.access_entries)
    assert sorted(found.access_entries.values()) == ["EC2_LINUX", "STANDARD"]
    assert found.node_role_arns == {node}
    assert found.node_group_versions == {"n": DEFAULT}
    assert found.addon_versions["kube-proxy"].startswith(f"v{DEFAULT}.")
    assert found.aws_auth == {"mapRoles": "[]"}
    assert reader.unreadable == []


@pytest.mark.parametrize(
    ("mode", "has_entries", "has_map"),
    [("CONFIG_MAP", False, True), ("API_AND_CONFIG_MAP", True, True), ("API", True, False)],
)
def test_only_what_the_mode_has_is_read(account, name, reader, mode, has_entries, has_map):
    fill(account, name, mode)
    found = look_up(reader, name)
    assert found is not None
    assert bool(found.access_entries) == has_entries
    assert (found.aws_auth is not None) == has_map


@pytest.mark.parametrize("status", ["CREATING", "FAILED"])
def test_a_cluster_that_is_not_there_yet_is_not_asked_who_may_enter(account, name, reader, status):
    """EKS then refuses to list access entries, which the `up` after a failed one would request."""
    fill(account, name, "API_AND_CONFIG_MAP")
    described = reader.eks.describe_cluster

    def unfinished(**arguments: Any):
        answer = described(**arguments)
        return {"cluster": {**answer["cluster"], "status": status}}

    def refused(**_: Any):
        raise ClientError({"Error": {"Code": "InvalidRequestException"}}, "ListAccessEntries")

    reader.eks.describe_cluster, reader.eks.list_access_entries = unfinished, refused
    found = look_up(reader, name, with_aws_auth=False)
    assert found is not None
    assert (found.status, found.access_entries) == (status, {})


def test_the_map_is_left_alone_where_nobody_needs_it(account, name, reader):
    fill(account, name, "CONFIG_MAP")
    found = look_up(reader, name, with_aws_auth=False)
    assert found is not None
    assert found.aws_auth is None


def test_every_page_of_a_list_is_read(account, name, reader):
    fill(account, name, "API")
    people = {account.role(f"{name}-{number}") for number in range(3)}
    for person in people:
        account.eks.create_access_entry(clusterName=name, principalArn=person)
    listed = reader.eks.list_access_entries

    def one_at_a_time(**arguments: Any):
        return listed(**arguments, maxResults=1)

    reader.eks.list_access_entries = one_at_a_time
    found = look_up(reader, name)
    assert found is not None
    assert people <= found.access_entry_arns


@pytest.mark.parametrize(
    ("call", "method", "left"),
    [
        ("eks:ListAddons", "list_addons", "addon_versions"),
        ("eks:DescribeAddon", "describe_addon", "addon_versions"),
        ("eks:ListNodegroups", "list_nodegroups", "node_group_versions"),
        ("eks:DescribeNodegroup", "describe_nodegroup", "node_group_versions"),
        ("eks:ListAccessEntries", "list_access_entries", "access_entries"),
    ],
)
def test_a_call_that_may_not_be_made_is_noted(account, name, reader, call, method, left):
    fill(account, name, "API")

    def denied(**_: Any):
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, method)

    setattr(reader.eks, method, denied)
    found = look_up(reader, name)
    assert found is not None
    assert not getattr(found, left)
    assert any(line.startswith(call) for line in reader.unreadable)


def test_a_cluster_that_may_not_be_read_is_unknown(account, name, reader):
    fill(account, name, "API")

    def denied(**_: Any):
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "DescribeCluster")

    reader.eks.describe_cluster = denied
    assert look_up(reader, name) is None
    assert reader.unreadable == ["eks:DescribeCluster: AccessDeniedException"]


def test_the_upgrade_is_read_only_for_a_stack_with_an_older_version(account, name, reader):
    account.cluster(name, version=PREVIOUS)
    account.eks.update_cluster_version(name=name, version=DEFAULT)
    account.eks.update_cluster_config(
        name=name, logging={"clusterLogging": [{"types": ["api"], "enabled": True}]}
    )
    assert look_up(reader, name, wanted_version=DEFAULT).upgraded_at is None
    found = look_up(reader, name, wanted_version=PREVIOUS)
    (update,) = (
        each
        for each in account.eks.list_updates(name=name)["updateIds"]
        if account.eks.describe_update(name=name, updateId=each)["update"]["type"]
        == "VersionUpdate"
    )
    began = account.eks.describe_update(name=name, updateId=update)["update"]["createdAt"]
    assert found.upgraded_at == began
    assert found.support_type == "EXTENDED"


def test_a_cluster_that_was_created_with_its_version_was_not_upgraded(account, name, reader):
    account.cluster(name)
    assert look_up(reader, name, wanted_version=PREVIOUS).upgraded_at is None
    assert reader.unreadable == []


def test_a_group_of_another_owner_with_an_image_of_its_own_leaves_only_its_version_out(
    account, name, reader
):
    """eksctl-io/eksctl, pull request 3960: EKS shows no version of it."""
    node = fill(account, name, "API")
    data = {"ImageId": STANDARD_IMAGE, "InstanceType": "c5.2xlarge"}
    account.eks.create_nodegroup(
        clusterName=name,
        nodegroupName="foreign",
        nodeRole=node,
        subnets=[PRIVATE_A],
        launchTemplate={"id": account.template(f"{name}-custom", **data)},
    )
    found = look_up(reader, name)
    assert found is not None
    assert found.node_group_versions == {"n": DEFAULT}
    assert found.node_group_sizes == {"n": 1, "foreign": 1}
    ((what, why),) = reader.left_out.items()
    assert what == "version of node group foreign"
    assert "AMI of its own" in why
