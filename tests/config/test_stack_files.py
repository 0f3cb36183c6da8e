"""The stack files of the repository: complete except for values that only their user knows."""

import re
from pathlib import Path

import pytest
import yaml

from tests.support.eks import NOW, STACK_FILE, schema_problems
from tests.support.stack_files import plan_from
from tests.support.stacks import STACKS, stack_config

ROOT = Path(__file__).parents[2]
KNOWN_TO_THE_USER = re.compile(
    r"network\.(vpc_id|public_subnet_ids|private_subnet_ids)"
    r"|reservations\.\w+\.reservation_id"
    r"|architecture\.custom_ami_id"
)
REFERENCES = {
    "batch-p4d",
    "batch-p5",
    "batch-trn1",
    "eks-g4dn",
    "eks-g4dn-vpc",
    "eks-p4de-odcr",
    "eks-p4de-odcr-vpc",
    "eks-p5-odcr",
    "p5-cb",
    "pc-gpu",
    "pc-p4de-ami",
    "pc-p4de-g5",
    "pc-p4de-postinstall",
    "pc-trn1",
    "pc-trn1-ami",
    "pc-trn1-ultracluster",
    "vpc-multi-az",
    "vpc-one-az",
}
"""Stacks of the reference architectures."""


def cluster(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["config"]["trainyard:cluster"]


@pytest.mark.parametrize("stack", STACKS)
def test_only_what_the_user_alone_knows_is_left_out(stack):
    raw = cluster(ROOT / f"Pulumi.{stack}.yaml")
    assert not [path for path in schema_problems(raw) if not KNOWN_TO_THE_USER.fullmatch(path)]
    assert not schema_problems(stack_config(stack)["trainyard:cluster"])


def test_every_reference_has_its_file():
    """EKS-01, DF-17: the corrected names of the reference's text and files."""
    assert not REFERENCES - {*STACKS}


def test_the_capacity_block_stack_is_planned_once_completed():
    """EKN-01 to EKN-03."""
    raw = cluster(ROOT / STACK_FILE)
    raw["network"] |= {
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": ["subnet-000000000000000a1"],
        "private_subnet_ids": ["subnet-000000000000000b2"],
    }
    raw["reservations"]["block"]["reservation_id"] = "cr-0123456789abcdef0"
    system, p5 = plan_from(raw, now=NOW).node_groups
    assert system.name == "system"
    assert (p5.management, p5.capacity.kind) == ("self-managed", "capacity-block")
    assert (p5.schedule.desired, p5.interfaces.efa_interfaces) == (2, 32)


def test_nothing_is_a_placeholder():
    """A missing value is refused with the command to set it; a placeholder looks like a value."""
    for stack in STACKS:
        text = (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
        assert "REPLACE" not in text
        assert "<" not in text
