"""The text of a refusal: the deleted objects, the reason, the cost, and the command to allow it."""

import pytest

from tests.support.steps import BLOCK, ODCR, managed, self_managed, step, template
from trainyard.changes.refusal import Background, explanation, judge
from trainyard.changes.reserved_capacity import COMPUTE_ENVIRONMENT, NODE_GROUP

LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
COMMAND = "./trainyard up p5-cb --sandbox"
DESTROY = "./trainyard destroy p5-cb --sandbox"
DEPLOYED = {
    "name": "p5-cb",
    "tags": {"team": "research"},
    "network": {"kind": "existing-vpc"},
    "storage": {"data": {"kind": "fsx-lustre", "storage_type": "SSD"}},
    "architecture": {"node_groups": {"p5": {"instance_type": "p5.48xlarge", "desired": 2}}},
}
WANTED = {
    **DEPLOYED,
    "tags": {},
    "storage": {"data": {"kind": "fsx-lustre", "storage_type": "HDD"}},
    "architecture": {"node_groups": {"p5": {"instance_type": "p5e.48xlarge", "desired": 2}}},
}
FILE_SYSTEM = step("replace", LUSTRE, "p5-cb-storage-data-fs", reasons=("storageType",))
NODES = [template("update", "p5-cb-p5", BLOCK, block=True), managed("replace", "p5-cb-p5")]


def said(*steps, allowed=(), instances=None, **background):
    verdict = judge(steps, allowed=allowed, instances=instances or {})
    told = {"deployed": DEPLOYED, "wanted": WANTED, **background}
    return explanation(verdict, Background(command=COMMAND, destroy=DESTROY, **told))


def test_it_says_what_goes_why_and_how_to_let_it_go():
    text = said(FILE_SYSTEM)
    assert text.startswith("nothing was changed")
    assert f"p5-cb-storage-data-fs  ({LUSTRE} p5-cb-storage-data-fs-1)" in text
    assert "because of storageType" in text
    assert "every file that is not in a linked S3 bucket" in text
    assert "caused by:    storage.data.storage_type: SSD -> HDD" in text
    assert text.endswith(f"{COMMAND} --replace p5-cb-storage-data-fs")


def test_keys_of_other_entries_are_not_blamed():
    text = said(FILE_SYSTEM)
    assert "tags" not in text
    assert "node_groups" not in text


def test_what_belongs_to_no_entry_is_blamed_on_what_belongs_to_none():
    text = said(step("replace", "aws:ec2/vpc:Vpc", "p5-cb-network", reasons=("cidrBlock",)))
    assert "caused by:    tags.team: removed" in text
    assert "storage.data" not in text


def test_a_block_is_named_with_its_end():
    text = said(*NODES, ends={BLOCK: "2026-12-07 12:00 UTC, 6 d 0 h from now"})
    assert f"its 2 nodes in Capacity Block {BLOCK}, and the jobs on them" in text
    assert "runs until 2026-12-07 12:00 UTC, 6 d 0 h from now" in text
    assert "architecture.node_groups.p5.instance_type: p5.48xlarge -> p5e.48xlarge" in text


def test_every_object_is_named_on_its_own_and_quoted_for_a_shell():
    text = said(FILE_SYSTEM, step("delete", LUSTRE, "a b; rm"))
    assert text.endswith("--replace p5-cb-storage-data-fs --replace 'a b; rm'")


def test_only_a_whole_name_allows():
    for name in ("*", "p5-cb-storage", "p5-cb-storage-data-fs*", ""):
        assert judge([FILE_SYSTEM], allowed=[name], instances={}).refuses
    assert not judge([FILE_SYSTEM], allowed=["p5-cb-storage-data-fs"], instances={}).refuses


def test_a_name_allows_no_other_object():
    verdict = judge([FILE_SYSTEM, *NODES], allowed=["p5-cb-storage-data-fs"], instances={})
    assert [loss.name for loss in verdict.losses] == ["p5-cb-p5-node-group"]


def test_no_name_makes_room_in_a_full_reservation():
    renamed = [
        template("delete", "p5-cb-a", ODCR),
        self_managed("delete", "p5-cb-a"),
        template("create", "p5-cb-b", ODCR),
        self_managed("create", "p5-cb-b"),
    ]
    verdict = judge(renamed, allowed=["p5-cb-a-nodes"], instances={ODCR: 2})
    assert not verdict.losses
    assert verdict.refuses
    text = said(*renamed, allowed=["p5-cb-a-nodes"], instances={ODCR: 2})
    assert "p5-cb-b-nodes would start in reservation" in text
    assert "two updates" in text


def test_an_environment_that_would_start_nodes_beside_its_own_says_how_it_goes():
    """G11, pain 9."""
    old = {"instanceTypes": ["p4d.24xlarge"], "minVcpus": 192, "maxVcpus": 192}
    told = {
        "old": {"computeResources": old},
        "new": {"computeResources": {**old, "ec2KeyPair": "k"}},
        "changed": ("computeResources.ec2KeyPair",),
    }
    steps = [
        template("same", "batch-p4d", ODCR),
        step("update", COMPUTE_ENVIRONMENT, "batch-p4d-environment", **told),
    ]
    text = said(*steps, instances={ODCR: 2})
    assert text.startswith("nothing was changed, because this update cannot succeed:")
    assert f"new nodes of batch-p4d-environment would start in reservation {ODCR} while" in text
    assert "first this one with `minimum: 0`" in text
    assert "--replace" not in text


@pytest.mark.parametrize(
    ("inhabitant", "words"),
    [
        ("aws:eks/cluster:Cluster", "control plane, which EKS cannot move"),
        ("aws:ec2/natGateway:NatGateway", "NAT gateway, which holds the Elastic IP address"),
    ],
)
@pytest.mark.parametrize("operation", ["same", "update", "replace"])
def test_no_name_moves_a_network_under_what_is_in_it(inhabitant, words, operation):
    vpc = step("replace", "aws:ec2/vpc:Vpc", "p5-cb-network-vpc", reasons=("cidrBlock",))
    steps = [vpc, step(operation, inhabitant, "in-it")]
    assert judge(steps, allowed=["p5-cb-network-vpc", "in-it"], instances={}).refuses
    text = said(*steps, allowed=["p5-cb-network-vpc", "in-it"])
    assert text.startswith("nothing was changed, because this update cannot succeed:")
    assert words in text
    assert "fail halfway" in text
    assert text.endswith(f"{DESTROY}\n      {COMMAND}")


def test_a_network_with_nothing_in_it_may_be_replaced_by_name():
    vpc = step("replace", "aws:ec2/vpc:Vpc", "p5-cb-network-vpc", reasons=("cidrBlock",))
    coming = step("create", "aws:ec2/natGateway:NatGateway", "nat")
    assert not judge([vpc, coming], allowed=["p5-cb-network-vpc"], instances={}).refuses
    assert "--replace p5-cb-network-vpc" in said(vpc, coming)


def test_without_a_known_update_before_no_key_is_blamed():
    assert "caused by" not in said(FILE_SYSTEM, deployed=None)


def test_control_characters_of_a_stack_file_do_not_reach_the_terminal():
    wanted = {**DEPLOYED, "storage": {"data": {"kind": "\x1b[2J", "storage_type": "SSD"}}}
    assert "\x1b" not in said(FILE_SYSTEM, wanted=wanted)


def test_a_running_block_is_refused_with_the_three_updates_that_lead_there():
    old = {"capacityType": "CAPACITY_BLOCK", "scalingConfig": {"desiredSize": 2}}
    new = {**old, "releaseVersion": "2"}
    group = step("update", NODE_GROUP, "g", old=old, new=new, changed=("releaseVersion",))
    text = said(group)
    assert "EKS updates the node group of a block only while its desired size is 0" in text
    assert "--replace" not in text
    assert "keep the nodes until the block ends" in text
    assert "set `metadata_hop_limit` of the node group to that of its nodes" in text
