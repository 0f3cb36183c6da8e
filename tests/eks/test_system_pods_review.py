"""Pods of the cluster's services on the system nodes."""

from __future__ import annotations

import pytest

from tests.support.eks import changed, refusals
from tests.support.stack_files import plan_from
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.eks.node_group_plan import pods_of_addresses

KEY = "trainyard:cluster.architecture.system_node_group.instance_type"


def system(name: str, *, desired: int = 2, **addons: bool):
    return changed(
        architecture__system_node_group={
            "instance_type": name,
            "desired": desired,
            "maximum": max(desired, 2),
            "minimum": 1,
        },
        architecture__addons=addons,
        architecture__node_groups__p5__taints=[
            {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
        ],
    )


def refused(raw):
    return [each for each in refusals(raw).values() if each.path == KEY]


@pytest.mark.parametrize(
    ("name", "pods"), [("t3.micro", 4), ("t3.small", 11), ("m5.large", 29), ("c5.2xlarge", 58)]
)
def test_the_table_of_the_ami(name, pods):
    assert pods_of_addresses(instance_type(name)) == pods


def test_two_micro_nodes_take_coredns_and_nothing_else():
    assert plan_from(system("t3.micro"))
    (problem,) = refused(system("t3.micro", ebs_csi_driver=True))
    assert "takes 4 pods on each node" in problem.problem
    assert problem.remedy.endswith("t3.large")


def test_one_micro_node_has_no_room_for_the_second_replica():
    (problem,) = refused(system("t3.micro", desired=1))
    assert "so 1 remain for 2 of CoreDNS" in problem.problem


def test_every_addon_fits_on_small_nodes():
    everything = {"ebs_csi_driver": True, "fsx_csi_driver": True, "node_monitoring_agent": True}
    assert plan_from(system("t3.small", **everything))


def test_other_nodes_without_taints_take_the_rest():
    raw = system("t3.micro", desired=1)
    del raw["architecture"]["node_groups"]["p5"]["taints"]
    notes = plan_from(raw).notes
    assert any("the rest run on other nodes" in note for note in notes)
