"""The panel that closes the `up` of a network stack."""

from __future__ import annotations

import pytest

from trainyard.deployment.network_summary import Summary, print_summary
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

OUTPUTS = {
    "vpc_id": "vpc-0123456789abcdef0",
    "cidrs": ["10.0.0.0/16", "10.1.0.0/16"],
    "availability_zones": ["usw2-az1", "usw2-az2"],
    "public_subnet_ids": ["subnet-0000000000000001a", "subnet-0000000000000001b"],
    "private_subnet_ids": ["subnet-0000000000000002a", "subnet-0000000000000002b"],
    "security_group_ids": {"efa": "sg-0123456789abcdef0"},
    "notes": ["a note"],
}


NETWORK = find_stack_file("vpc-multi-az")


@pytest.mark.parametrize(("sandbox", "place"), [(True, "SANDBOX"), (False, "AWS")])
def test_the_panel_says_how_other_stacks_live_in_the_network(capsys, sandbox, place) -> None:
    """VPCM-22, VPC1-15: the exports of the templates, and their importers."""
    print_summary(Summary(target_of(NETWORK, sandbox=sandbox), OUTPUTS, {"same": 40}))
    said = capsys.readouterr().out
    assert f"vpc-multi-az · {place}" in said
    for fact in (
        "vpc-0123456789abcdef0  10.0.0.0/16, 10.1.0.0/16",
        "public subnet-0000000000000001b, private subnet-0000000000000002b",
        "sg-0123456789abcdef0",
        "network: {kind: stack-reference, stack: vpc-multi-az}",
        "a note",
        "0 changed, 40 unchanged",
    ):
        assert fact in said


def test_the_panel_shows_a_network_without_public_subnets(capsys) -> None:
    """VPCM-04."""
    print_summary(
        Summary(target_of(NETWORK, sandbox=True), {**OUTPUTS, "public_subnet_ids": []}, {})
    )
    said = capsys.readouterr().out
    assert "private subnet-0000000000000002b" in said
    assert "public" not in said
