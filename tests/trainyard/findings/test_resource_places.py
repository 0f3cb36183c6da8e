"""A resource is found in the stack file by its name: that of cluster and entry, and its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.findings.policy_events import ResourcePlaces
from trainyard.stack_files.stack_files import StackFile, find_stack_file

FILE = """\
config:
  trainyard:cluster:
    name: big
    architecture:
      node_groups:
        train: {}
        train-large: {}
        both: {}
    storage:
      scratch: {}
      both: {}
"""
CLUSTER, TRAIN, TRAIN_LARGE, SCRATCH = 2, 6, 7, 10


@pytest.fixture
def places(tmp_path: Path) -> ResourcePlaces:
    path = tmp_path / "Pulumi.big.yaml"
    path.write_text(FILE)
    entries = {"train": {}, "train-large": {}, "both": {}}
    storage = {"scratch": {}, "both": {}}
    cluster = {"name": "big", "architecture": {"node_groups": entries}, "storage": storage}
    return ResourcePlaces(StackFile("big", path, {"config": {"trainyard:cluster": cluster}}))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        pytest.param("big-train-launch-template", TRAIN, id="a node group's"),
        pytest.param("big-train", TRAIN, id="a node group itself"),
        pytest.param("big-train-large-node-group", TRAIN_LARGE, id="the longer name"),
        pytest.param("big-scratch-file-system", SCRATCH, id="a file system's"),
        pytest.param("big-storage-scratch-mount", SCRATCH, id="a file system's on EKS"),
        pytest.param("big-trainer", CLUSTER, id="a name that only begins alike"),
        pytest.param("big-efa-group", CLUSTER, id="of the cluster"),
        pytest.param("big-both-role", CLUSTER, id="of two entries of one name"),
        pytest.param("foreign-train", CLUSTER, id="of another cluster"),
        pytest.param("", CLUSTER, id="of the stack"),
    ],
)
def test_a_resource_is_of_the_entry_in_its_name(
    places: ResourcePlaces, name: str, line: int
) -> None:
    urn = f"urn:pulumi:s::p::aws:ec2/launchTemplate:LaunchTemplate::{name}" if name else ""
    assert places.line_of(urn) == line


def test_a_launch_template_of_a_tracked_stack_is_of_its_node_group() -> None:
    """The name is in tests/goldens/stacks/p5-cb-managed.yaml."""
    golden = ROOT / "tests" / "goldens" / "stacks" / "p5-cb-managed.yaml"
    assert "name: p5-cb-managed-p5-launch-template\n" in golden.read_text(encoding="utf-8")
    found = find_stack_file("p5-cb-managed")
    urn = "urn:pulumi:s::p::aws:ec2/launchTemplate:LaunchTemplate::p5-cb-managed-p5-launch-template"
    line = ResourcePlaces(found).line_of(urn)
    assert found.path.read_text(encoding="utf-8").splitlines()[line - 1].strip() == "p5:"


def test_a_stack_file_that_is_no_mapping_has_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.c.yaml"
    path.write_text("config:\n  trainyard:cluster: 7\n")
    file = StackFile("c", path, {"config": {"trainyard:cluster": 7}})
    assert ResourcePlaces(file).line_of("urn::7-x") == 2
