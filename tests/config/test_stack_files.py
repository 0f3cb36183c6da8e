"""The stack files of the repository: complete but for what their user alone knows."""

from pathlib import Path

import pytest
import yaml

from tests.support.stack_files import NOW, STACK_FILE, plan, schema_problems

ROOT = Path(__file__).parents[2]
STACK_FILES = sorted(ROOT.glob("Pulumi.*.yaml"))
NETWORK = {"network.vpc_id", "network.public_subnet_ids", "network.private_subnet_ids"}
BLOCK = {"reservations.block.reservation_id"}
TRAINING = {"reservations.training.reservation_id"}
IMAGE = {"architecture.custom_ami_id"}
LEFT_OUT = {
    "batch-p4d": NETWORK | TRAINING,
    "batch-p5": NETWORK | BLOCK,
    "batch-trn1": set(),
    "dev": set(),
    "eks-g4dn": set(),
    "eks-g4dn-vpc": NETWORK,
    "eks-p4de-odcr": TRAINING,
    "eks-p4de-odcr-vpc": NETWORK | TRAINING,
    "eks-p5-odcr": NETWORK | TRAINING,
    "eks-trn1": set(),
    "p5-cb": NETWORK | BLOCK,
    "pc-gpu": NETWORK | TRAINING,
    "pc-p4de-ami": NETWORK | TRAINING | IMAGE,
    "pc-p4de-g5": NETWORK | TRAINING | IMAGE,
    "pc-p4de-postinstall": NETWORK | TRAINING,
    "pc-trn1": set(),
    "pc-trn1-ami": NETWORK | TRAINING | IMAGE,
    "pc-trn1-ultracluster": set(),
    "p5-cb-managed": NETWORK | BLOCK,
    "vpc-multi-az": set(),
    "vpc-one-az": set(),
}


def cluster(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["config"]["trainyard:cluster"]


@pytest.mark.parametrize("path", STACK_FILES, ids=lambda path: path.name)
def test_only_what_the_user_alone_knows_is_left_out(path):
    assert set(schema_problems(cluster(path))) == LEFT_OUT[path.name.split(".")[1]]


def test_every_stack_of_the_family_has_its_file():
    """EKS-01, DF-17: the names that the reference's text and files use, put right."""
    assert {path.name.split(".")[1] for path in STACK_FILES} == set(LEFT_OUT)


def test_the_capacity_block_stack_is_planned_once_completed():
    """EKN-01 to EKN-03."""
    raw = cluster(ROOT / STACK_FILE)
    raw["network"] |= {
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": ["subnet-000000000000000a1"],
        "private_subnet_ids": ["subnet-000000000000000b2"],
    }
    raw["reservations"]["block"]["reservation_id"] = "cr-0123456789abcdef0"
    system, p5 = plan(raw, now=NOW).node_groups
    assert system.name == "system"
    assert (p5.management, p5.capacity.kind) == ("self-managed", "capacity-block")
    assert (p5.schedule.desired, p5.interfaces.efa_interfaces) == (2, 32)


def test_nothing_is_a_placeholder():
    """A left-out value is refused with its command; a placeholder would look like a value."""
    for path in STACK_FILES:
        text = path.read_text(encoding="utf-8")
        assert "REPLACE" not in text
        assert "<" not in text
