"""The head node of the cluster file."""

import pytest

from tests.support.parallelcluster import POLICY, SCRIPTS, head_node
from tests.support.stack_files import PUBLIC_A
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.parallelcluster.node_scripts import NodeAccess
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import HEAD_NODE_KEY, render_head_node


@pytest.mark.parametrize("instance_type", ["m5.8xlarge", "c5.4xlarge"])
def test_the_instance_type(instance_type):
    """PC-03, TRN-01, TRN-21."""
    rendered = render_head_node(head_node(instance_type=instance_type))
    assert rendered["InstanceType"] == instance_type


def test_the_subnet_is_a_reference():
    """PC-04: an existing one, or one that the stack creates."""
    rendered = render_head_node(head_node(subnets=(PUBLIC_A,)))
    assert rendered["Networking"] == {"SubnetId": Reference("subnet", PUBLIC_A)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"KeyName": "sandbox", "AllowedIps": "0.0.0.0/0"}),
        (
            {"allowed_cidr": "203.0.113.0/24"},
            {"KeyName": "sandbox", "AllowedIps": "203.0.113.0/24"},
        ),
        (
            {"key_name": None, "public_key": "ssh-ed25519 AAAA me"},
            {"KeyName": Reference("key-pair", HEAD_NODE_KEY), "AllowedIps": "0.0.0.0/0"},
        ),
        ({"key_name": None, "allowed_cidr": "10.0.0.0/8"}, {"AllowedIps": "10.0.0.0/8"}),
        ({"key_name": None, "allowed_cidr": None}, {"AllowedIps": "0.0.0.0/32"}),
    ],
)
def test_who_may_log_in(changes, expected):
    """PC-05, PR-02: an existing key pair, one that the stack imports, or none."""
    assert render_head_node(head_node(**changes))["Ssh"] == expected


def test_the_root_volume_holds_the_home_directories_and_goes_with_the_node():
    """PC-06, TRN-01, TRN-21."""
    volume = RootVolume(size_gib=1024, iops=6000, throughput_mibps=500)
    rendered = render_head_node(head_node(root_volume=volume))
    assert rendered["LocalStorage"]["RootVolume"] == {
        "Size": 1024,
        "Encrypted": True,
        "VolumeType": "gp3",
        "Iops": 6000,
        "Throughput": 500,
        "DeleteOnTermination": True,
    }


def test_what_it_may_do_and_what_it_runs():
    """PC-07, PCx-07."""
    access = NodeAccess(
        iam_policies=(f"{POLICY}AmazonSSMManagedInstanceCore", f"{POLICY}AmazonS3ReadOnlyAccess"),
        on_node_configured=SCRIPTS,
    )
    rendered = render_head_node(head_node(access=access))
    assert [each["Policy"] for each in rendered["Iam"]["AdditionalIamPolicies"]] == [
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
        "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
    ]
    assert rendered["CustomActions"]["OnNodeConfigured"]["Sequence"][1]["Args"] == ["/fsx"]
