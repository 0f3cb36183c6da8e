"""The EFA device plugin tolerates the taints of nodes with EFA (A20, G8)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import node_group
from tests.support.policy_programs_eks import (
    DRIVER_IMAGE,
    efa_cluster,
    plugin,
    release,
)
from trainyard.policies.rules.efa.efa_plugin_tolerations import POLICY

GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
TOLERATED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
TAINTED = node_group(taints=[GPU])


def tainted(*more, nodes=TAINTED):
    return efa_cluster(*more, nodes=nodes)


VIOLATING = (
    tainted(release()),
    tainted(plugin(tolerations=[CRITICAL])),
    tainted(plugin(name="driver", image=DRIVER_IMAGE, tolerations=[CRITICAL])),
)
CLEAN = (
    tainted(release(values={"tolerations": [TOLERATED]})),
    tainted(plugin(tolerations=[CRITICAL, TOLERATED])),
    efa_cluster(release()),
)


@pytest.mark.parametrize("program", VIOLATING, ids=["chart", "daemon-set", "driver"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "it does not tolerate nvidia.com/gpu=present:NoSchedule of p5-nodes" in message


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}, True),
        ({"key": "nvidia.com/gpu", "value": "true"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "aws.amazon.com/efa", "operator": "Exists"}, False),
        ({"key": UNKNOWN, "operator": "Exists"}, True),
    ],
)
def test_a_toleration_is_read_as_kubernetes_reads_it(toleration, tolerates):
    made = plugin(tolerations=[toleration])
    program = tainted(Declared(made.type, made.name, made.props, {"spec": ["training"]}))
    assert (check(POLICY, *program).messages == []) == tolerates


@pytest.mark.parametrize(
    "taint",
    [
        {"key": "nvidia.com/gpu", "effect": "PREFER_NO_SCHEDULE"},
        {"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"},
    ],
    ids=["keeps-nothing-away", "tolerated-by-the-chart"],
)
def test_passes_for_a_taint_that_keeps_no_plugin_away(taint):
    assert check(POLICY, *tainted(release(), nodes=node_group(taints=[taint]))).messages == []


@pytest.mark.parametrize("program", CLEAN)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_second_plugin_may_be_for_the_tainted_nodes():
    for_p5 = plugin("p5.48xlarge", name="for-p5", tolerations=[TOLERATED])
    assert check(POLICY, *tainted(plugin("p4d.24xlarge"), for_p5)).messages == []
    assert check(POLICY, *tainted(plugin("p5.48xlarge", tolerations=[CRITICAL]))).messages


def test_one_plugin_on_the_tainted_nodes_is_enough():
    other = plugin("p5.48xlarge", name="other", tolerations=[TOLERATED])
    program = tainted(plugin("p5.48xlarge", tolerations=[CRITICAL]), other)
    assert check(POLICY, *program).messages == []


def test_tolerations_that_are_not_known_yet_are_said():
    made = plugin(tolerations=UNKNOWN)
    found = check(POLICY, *tainted(Declared(made.type, made.name, made.props, {"spec": ["efa"]})))
    assert found.messages == []
    assert "efa-plugin.spec" in found.undecided[0]
