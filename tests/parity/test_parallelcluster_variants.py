"""Differences between the five ParallelCluster templates: PCx-01 to PCx-09, DF-05 to DF-07."""

from __future__ import annotations

import re

import pytest

from tests.support.parallelcluster import rendered, scripts
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError

P4DE = ("pc-gpu", "pc-p4de-ami", "pc-p4de-postinstall", "pc-p4de-g5")


@better(
    "PCx-01",
    "`Image.CustomAmi` in three of the five",
    why="a stack that is about an image asks for it, and its version, system and type are compared",
)
def test_three_stacks_have_an_image_of_the_user_s_and_ask_for_it(templates):
    with_image = {name for name, made in templates.items() if "CustomAmi" in made.cluster["Image"]}
    assert with_image == {"pc-p4de-ami", "pc-p4de-g5", "pc-trn1-ami"}
    for name in with_image:
        with pytest.raises(ConfigError, match=r"architecture\.custom_ami_id\n.*is missing"):
            stack_plan(name, architecture__custom_ami_id=...)
    with pytest.raises(ConfigError, match=r"built by ParallelCluster 3\.9\.0"):
        stack_plan("pc-p4de-ami", architecture__custom_ami_id="ami-0c0000000000bad01")


@same("PCx-02", "p4de.24xlarge, and trn1.32xlarge in the last one")
def test_instance_types_are_those_of_the_templates(templates):
    types = {name: made.nodes["InstanceType"] for name, made in templates.items()}
    assert types == {**dict.fromkeys(P4DE, "p4de.24xlarge"), "pc-trn1-ami": "trn1.32xlarge"}


@better(
    "PCx-03",
    "Four nodes that stay; placeholders for Trainium",
    why="four everywhere, a value that works; more than the reservation holds is refused",
)
def test_four_nodes_stay(templates):
    for made in templates.values():
        assert (made.nodes["MinCount"], made.nodes["MaxCount"]) == (4, 4)
    nodes = "architecture__queues__compute-gpu__compute_resources__distributed-ml__maximum"
    with pytest.raises(ConfigError, match=r"distributed-ml\.maximum"):
        stack_plan("pc-gpu", **{nodes: 5})


@better(
    "PCx-04",
    "A managed placement group in every template, for Trainium with a name beside it",
    why="none beside a reservation, but the one that it was made in; said explicitly",
)
def test_nodes_of_a_reservation_are_in_no_group_but_its_own(templates):
    for made in templates.values():
        assert made.queue["Networking"]["PlacementGroup"] == {"Enabled": False}
    reservation = {
        "kind": "odcr",
        "reservation_id": "cr-00d00000000000001",
        "placement_group": "p4de-reserved",
    }
    two = {f"{RESOURCE}__minimum": 2, f"{RESOURCE}__maximum": 2}
    grouped = rendered(stack_plan("pc-gpu", reservations__training=reservation, **two))
    networking = grouped["Scheduling"]["SlurmQueues"][0]["Networking"]
    assert networking["PlacementGroup"] == {"Enabled": True, "Name": "p4de-reserved"}


RESOURCE = "architecture__queues__compute-gpu__compute_resources__distributed-ml"


@better(
    "PCx-05",
    "`CapacityReservationId`, at the queue or at the compute resource",
    why="the same target, and zone, type, state and size of the reservation are compared",
)
def test_nodes_launch_in_the_reservation(templates):
    for name, made in templates.items():
        number = 3 if name == "pc-trn1-ami" else 4
        target = {"CapacityReservationId": f"cr-00d0000000000000{number}"}
        assert made.queue["CapacityReservationTarget"] == target
    with pytest.raises(ConfigError, match=r"trn1\.32xlarge"):
        stack_plan("pc-gpu", reservations__training__reservation_id="cr-00d00000000000003")


@same("PCx-06", "`JobExclusiveAllocation` for p4de training, not for Trainium or inference")
def test_training_on_p4de_has_its_nodes_for_itself(templates):
    exclusive = {
        (name, queue["Name"]): queue["JobExclusiveAllocation"]
        for name, made in templates.items()
        for queue in made.queues.values()
    }
    assert exclusive == {
        **{(name, "compute-gpu"): True for name in P4DE},
        ("pc-p4de-g5", "inference-gpu"): False,
        ("pc-trn1-ami", "compute-trn"): False,
    }


@better(
    "PCx-07",
    "Docker, then Pyxis with `/fsx`, after configuration of head node and queue, from `main`",
    why="own scripts with pinned versions, from a bucket of the stack: those of AWS update the "
    "system and download what changes; Pyxis without `/fsx`, which was the cache of images in the "
    "script of that time and is the directory of unpacked containers in today's",
)
def test_docker_and_pyxis_are_installed_by_pinned_scripts(templates):
    for name, made in templates.items():
        wanted = 2 if name == "pc-p4de-postinstall" else 0
        assert [len(scripts(made.head)), len(scripts(made.queue))] == [wanted, wanted]
    made = templates["pc-p4de-postinstall"]
    for section in (made.head, made.queue):
        docker, pyxis = scripts(section)
        assert re.search(r"/docker(-[0-9a-f]{12})?\.sh$", docker["Script"])
        assert "Args" not in docker
        assert re.search(r"/pyxis(-[0-9a-f]{12})?\.sh$", pyxis["Script"])
        assert "Args" not in pyxis
        assert section["Iam"]["S3Access"][-1]["KeyName"] == "node-scripts/*"


@same("PCx-08", "Second queue `inference-gpu`: up to ten g5.12xlarge, no EFA, group or reservation")
def test_inference_has_a_queue_of_its_own(templates):
    two = templates["pc-p4de-g5"]
    assert list(two.queues) == ["compute-gpu", "inference-gpu"]
    queue = two.queues["inference-gpu"]
    (nodes,) = queue["ComputeResources"]
    assert nodes == {
        "Name": "inference-ml",
        "InstanceType": "g5.12xlarge",
        "MinCount": 0,
        "MaxCount": 10,
    }
    storage = queue["ComputeSettings"]["LocalStorage"]
    assert storage["EphemeralVolume"] == {"MountDir": "/local_scratch"}
    assert storage["RootVolume"]["Size"] == 100
    assert queue["Networking"]["SubnetIds"] == two.queue["Networking"]["SubnetIds"]
    assert queue["Networking"]["PlacementGroup"] == {"Enabled": False}
    assert queue["CapacityType"] == "ONDEMAND"
    assert "CapacityReservationTarget" not in queue


@better(
    "PCx-09",
    "Queues `compute-gpu` and `inference-gpu`; Trainium nodes in `compute-gpu` too",
    why="the same names, and `compute-trn` for the nodes that have no GPU",
)
def test_queues_are_named_for_what_they_hold(templates):
    assert {name: list(made.queues) for name, made in templates.items()} == {
        "pc-gpu": ["compute-gpu"],
        "pc-p4de-ami": ["compute-gpu"],
        "pc-p4de-postinstall": ["compute-gpu"],
        "pc-p4de-g5": ["compute-gpu", "inference-gpu"],
        "pc-trn1-ami": ["compute-trn"],
    }


@better(
    "DF-05",
    "A managed placement group and a targeted reservation together, in four templates",
    why="never together: the group is derived, and one that is asked for is refused",
)
def test_a_placement_group_is_never_made_beside_a_reservation(templates):
    for made in templates.values():
        assert "CapacityReservationTarget" in made.queue
        assert made.queue["Networking"]["PlacementGroup"]["Enabled"] is False
    assisted = {
        "reservations__training__provenance": "aws-assisted",
        f"{RESOURCE}__placement": {"group": "create"},
    }
    with pytest.raises(ConfigError, match="placement"):
        stack_plan("pc-gpu", **assisted)


@better(
    "DF-06",
    "Scripts from a branch; no image although the text says that there is one",
    why="own scripts with pinned versions; the stack that has them starts from ParallelCluster's "
    "own image",
)
def test_no_script_of_any_stack_is_from_a_branch(slurm):
    made = [slurm(name) for name in (*P4DE, "pc-trn1-ami", "pc-trn1", "pc-trn1-ultracluster")]
    found = [
        script["Script"]
        for each in made
        for section in (each.head, *each.queues.values())
        for script in scripts(section)
    ]
    assert len(found) == 8
    assert all(re.search(r"/node-scripts/(head-node/)?[\w-]+\.sh$", address) for address in found)
    assert "CustomAmi" not in slurm("pc-p4de-postinstall").cluster["Image"]


@better(
    "DF-07",
    "Root volume of the head node: 200 GiB in the text, 500 GiB in the file",
    why="500, as the file, which was what people got",
)
def test_the_head_node_has_what_the_file_says(templates):
    sizes = {made.head["LocalStorage"]["RootVolume"]["Size"] for made in templates.values()}
    assert sizes == {500}
