"""Devices of each node of a group for pods."""

from dataclasses import replace

from tests.support.eks import P5, SYSTEM
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.eks.node_group_plan import node_devices

ALL = ("nvidia", "neuron", "efa")


def test_gpus_are_the_types_and_efa_interfaces_the_templates():
    assert node_devices(P5, ALL) == {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}
    assert node_devices(replace(P5, interfaces=None), ALL) == {"nvidia.com/gpu": 8}


def test_what_no_plugin_hands_out_is_not_offered():
    assert node_devices(P5, ("nvidia",)) == {"nvidia.com/gpu": 8}
    assert node_devices(P5, ()) == {}


def test_neuron_devices_are_counted_whole_and_by_core():
    trn1 = replace(P5, instance_type=instance_type("trn1.32xlarge"), interfaces=None)
    assert node_devices(trn1, ALL) == {
        "aws.amazon.com/neuron": 16,
        "aws.amazon.com/neuroncore": 32,
    }


def test_nodes_for_cluster_services_have_none():
    assert node_devices(SYSTEM, ALL) == {}
