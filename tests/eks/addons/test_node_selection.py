"""Tolerations and affinities of self-managed add-ons."""

from trainyard.components.config.eks import Taint
from trainyard.components.eks.addons.node_selection import (
    NVIDIA_GPU,
    instance_type_affinity,
    tolerations,
)


def test_the_plugins_own_tolerations_come_first_and_each_taint_once():
    taint = Taint(key="team", value="vision", effect="NoSchedule")
    assert tolerations([NVIDIA_GPU], [taint, taint]) == [
        NVIDIA_GPU,
        {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoSchedule"},
    ]


def test_the_order_of_instance_types_changes_nothing():
    several = instance_type_affinity(["p5.48xlarge", "g6.8xlarge", "p5.48xlarge"])
    assert several == instance_type_affinity(["g6.8xlarge", "p5.48xlarge"])
