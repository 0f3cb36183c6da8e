"""The entry of a stack file for a resource follows from the resource's name."""

import pytest

from trainyard.stack_files.stack_entries import entries_of

CLUSTER = {
    "name": "big",
    "architecture": {
        "node_groups": {"train": {}, "train-large": {}, "both": {}},
        "queues": {"compute": {}},
    },
    "storage": {"train": {}, "both": {}},
}
GROUPS, STORAGE = ("architecture", "node_groups"), ("storage",)


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        pytest.param("big-train-large-role", [(*GROUPS, "train-large")], id="the longer name"),
        pytest.param("big-storage-train-claim", [(*STORAGE, "train")], id="storage on EKS"),
        pytest.param("big-compute-x", [("architecture", "queues", "compute")], id="a queue"),
        pytest.param("big-both-x", [(*GROUPS, "both"), (*STORAGE, "both")], id="two of one name"),
        pytest.param("big-network", [], id="the cluster's"),
        pytest.param("train-role", [], id="of another cluster"),
    ],
)
def test_a_resource_is_of_the_entries_that_fit_its_name_best(name, entries):
    assert entries_of(name, CLUSTER) == entries


@pytest.mark.parametrize("cluster", [None, [], {"name": "big", "storage": ["data"]}])
def test_a_file_that_is_wrong_in_itself_has_no_entries(cluster):
    assert entries_of("big-data-x", cluster) == []
