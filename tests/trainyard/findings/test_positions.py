"""A key of a stack file has a line, and a missing key has the line of its parent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.findings.finding import Positions, parts_of

FILE = """\
# a comment
config:
  aws:region: us-west-2
  trainyard:cluster:
    name: c
    network:
      kind: existing-vpc
      private_subnet_ids:
        - subnet-1
        - subnet-2
    tags: {cost.center: a, 7: b}
    architecture:
      node_groups: &groups
        train: {instance_type: p5.48xlarge,
                efa_enabled: true}
"""


@pytest.fixture
def positions(tmp_path: Path) -> Positions:
    path = tmp_path / "Pulumi.c.yaml"
    path.write_text(FILE)
    return Positions(path)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        pytest.param("aws:region", 3, id="another key of the stack"),
        pytest.param("trainyard:cluster", 4, id="the cluster"),
        pytest.param("trainyard:cluster.network.private_subnet_ids", 8, id="a list"),
        pytest.param("trainyard:cluster.network.private_subnet_ids[1]", 10, id="an item"),
        pytest.param("trainyard:cluster.network.private_subnet_ids[7]", 8, id="no such item"),
        pytest.param('trainyard:cluster.tags["cost.center"]', 11, id="a key in quotes"),
        pytest.param("trainyard:cluster.network.vpc_id", 6, id="a missing key"),
        pytest.param("trainyard:cluster.reservations.block.reservation_id", 4, id="missing parts"),
        pytest.param("trainyard:cluster.architecture.node_groups.train.efa_enabled", 15, id="flow"),
        pytest.param("trainyard:stray", 2, id="a key that is not in the file"),
    ],
)
def test_a_key_is_found_on_its_line(positions: Positions, key: str, line: int) -> None:
    assert positions.line_of(key) == line


@pytest.mark.parametrize("content", ["a: [", "", "- a", "config: 7"])
def test_a_file_that_is_no_stack_file_has_its_first_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "Pulumi.c.yaml"
    path.write_text(content)
    assert Positions(path).line_of("trainyard:cluster.name") == 1


def test_a_file_that_is_gone_has_its_first_line(tmp_path: Path) -> None:
    assert Positions(tmp_path / "none.yaml").line_of("aws:region") == 1


def test_keys_are_read_in_the_spelling_in_which_problems_name_them() -> None:
    path = 'trainyard:cluster.queues[0].tags["cost.center"].name'
    assert parts_of(path) == ("trainyard:cluster", "queues", 0, "tags", "cost.center", "name")


def test_every_tracked_stack_file_has_its_cluster_on_the_line_that_says_so() -> None:
    for path in ROOT.glob("Pulumi.*.yaml"):
        line = Positions(path).line_of("trainyard:cluster")
        assert path.read_text(encoding="utf-8").splitlines()[line - 1].strip() == (
            "trainyard:cluster:"
        )
