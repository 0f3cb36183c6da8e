"""Stack files that the schema of ParallelCluster stacks refuses."""

from __future__ import annotations

import pytest

from tests.support.account import configured
from tests.support.eks import schema_problems
from tests.support.parallelcluster import raw_p4de


def test_a_stack_about_an_image_asks_for_it():
    """PCx-01: without `image: custom` it would start from ParallelCluster's own image."""
    raw = raw_p4de(architecture__custom_ami_id=..., architecture__image="custom")
    (problem,) = schema_problems(raw).values()
    assert problem.path == "trainyard:cluster.architecture.custom_ami_id"
    assert problem.problem.startswith("is missing: AMI of all nodes")
    assert problem.remedy.endswith("'trainyard:cluster.architecture.custom_ami_id' ami-…")


def test_an_image_beside_the_official_one_is_a_contradiction():
    raw = raw_p4de(architecture__image="official")
    assert "`image: official`" in schema_problems(raw)["architecture.custom_ami_id"].problem


ED25519 = "AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn"


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        pytest.param(f"ssh-ed25519 {ED25519}", True, id="without-comment"),
        pytest.param(f"ssh-ed25519 {ED25519} me@home", True, id="with-comment"),
        pytest.param(f"ssh-ed25519 {ED25519[:-4]}", False, id="cut"),
        pytest.param(f"ssh-ed25519 {ED25519[:-1]}", False, id="cut-inside-of-a-byte"),
        pytest.param(f"ssh-rsa {ED25519}", False, id="of-another-type"),
        pytest.param("ssh-ed25519 AAAA", False, id="empty"),
        pytest.param("-----BEGIN OPENSSH PRIVATE KEY-----", False, id="the-private-half"),
    ],
)
def test_a_public_key_is_whole(line: str, *, taken: bool):
    """EC2 refuses other formats when half of the stack is created."""
    found = schema_problems(raw_p4de(architecture__head_node__ssh={"public_key": line}))
    assert list(found) == ["architecture.head_node.ssh.public_key"] * (not taken)


def test_a_public_key_has_no_comment():
    """A changed comment would mean another key pair, which an existing cluster cannot use."""
    key = f"ssh-ed25519 {ED25519}"
    ssh = {"public_key": f"{key} somebody@laptop"}
    config = configured(raw_p4de(architecture__head_node__ssh=ssh))
    assert config.architecture.head_node.ssh.public_key == key


@pytest.mark.parametrize(
    ("key", "taken"), [("data/*", True), ("*", True), ("", False), ("/d", False)]
)
def test_a_key_in_a_bucket_is_one_that_objects_have(key: str, *, taken: bool):
    """An empty prefix would grant access to the whole bucket, and no prefix begins with a slash."""
    access = [{"bucket": "training-data", "key": key}]
    found = schema_problems(raw_p4de(architecture__head_node__s3_access=access))
    assert list(found) == ["architecture.head_node.s3_access[0].key"] * (not taken)
