"""Access to a cluster, and its log group."""

from typing import get_args

import pulumi
import pytest

from tests.support.parallelcluster import head_node, plan
from trainyard.components.catalog.parallelcluster import DEFAULT_USERS
from trainyard.components.config.parallelcluster import Monitoring, OperatingSystem
from trainyard.components.parallelcluster.resources import log_group, login_commands

OUTPUTS = {
    "ClusterName": "pc-g4dn",
    "HeadNodeInstanceId": "i-0123456789abcdef0",
    "HeadNodePublicIp": "203.0.113.10",
}
KEY = {"key_name": None, "public_key": "ssh-ed25519 AAAA me"}


@pytest.fixture
def asked(deploy):
    """Return the commands and the log group of a plan."""

    def run(**changes):
        of = plan(**changes)

        def program():
            outputs = pulumi.Output.from_input(OUTPUTS)
            for name, value in login_commands(of, outputs).items():
                pulumi.export(name, value)
            parent = pulumi.ComponentResource("test:test:Parent", "parent")
            pulumi.export("log_group", log_group(of, outputs, parent))

        return deploy(program)

    return run


@pytest.mark.parametrize(
    ("system", "user"),
    [("alinux2023", "ec2-user"), ("ubuntu2204", "ubuntu"), ("rocky9", "rocky")],
)
def test_ssh_names_the_user_of_the_system_and_the_public_address(asked, system, user):
    """PR-63: seed 004 logs in at the address from `describe-cluster`."""
    exports = asked(operating_system=system).exports
    assert exports["ssh_command"] == f"ssh {user}@203.0.113.10"


def test_every_system_has_a_user():
    assert DEFAULT_USERS.keys() == set(get_args(OperatingSystem))


@pytest.mark.parametrize(
    ("changes", "there"),
    [
        ({}, True),
        (KEY, True),
        ({"key_name": None}, False),
        ({"public": False}, False),
        ({"allowed_cidr": None}, False),
        ({**KEY, "public": False}, False),
    ],
)
def test_ssh_needs_a_key_an_address_and_an_open_port(asked, changes, there):
    """PC-05: the key is optional; Session Manager is the alternative."""
    assert (asked(head_node=head_node(**changes)).exports["ssh_command"] is not None) == there


def test_session_manager_needs_neither(asked):
    """PC-07: the head node's role permits it."""
    exports = asked(head_node=head_node(key_name=None, public=False)).exports
    assert exports["ssm_command"] == (
        "aws ssm start-session --target i-0123456789abcdef0 --region us-west-2"
    )


def test_the_log_group_is_read_from_the_stack_of_parallelcluster(asked):
    """PR-10, PR-46: its name ends in the minute of the creation."""
    cloud = asked()
    assert cloud.exports["log_group"] == "/aws/parallelcluster/pc-202611210900"
    ((token, arguments),) = cloud.invoked
    assert token == "aws:cloudformation/getStack:getStack"
    assert arguments == {"name": "pc-g4dn", "region": "us-west-2"}


def test_without_logs_there_is_no_log_group(asked):
    cloud = asked(monitoring=Monitoring(logs=False))
    assert cloud.exports["log_group"] is None
    assert cloud.invoked == []
