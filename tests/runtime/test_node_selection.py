"""Tolerations and affinities of device plugins."""

from components.runtime.node_selection import (
    NVIDIA_GPU,
    ToleratedTaint,
    instance_type_affinity,
    tolerations,
)


def test_the_plugins_own_tolerations_come_first_and_each_taint_once():
    taint = ToleratedTaint(key="team", value="vision", effect="NoSchedule")
    first, second = tolerations([NVIDIA_GPU], [taint, taint])
    assert first is NVIDIA_GPU
    assert (second.key, second.operator, second.value, second.effect) == (
        "team",
        "Equal",
        "vision",
        "NoSchedule",
    )


def test_the_order_of_instance_types_changes_nothing():
    def types(*names):
        affinity = instance_type_affinity(names).node_affinity
        required = affinity.required_during_scheduling_ignored_during_execution
        return required.node_selector_terms[0].match_expressions[0].values

    assert types("p5.48xlarge", "g6.8xlarge", "p5.48xlarge") == ["g6.8xlarge", "p5.48xlarge"]
