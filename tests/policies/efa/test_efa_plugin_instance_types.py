"""The EFA device plugin runs on the types with EFA (A19)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, p5_interfaces, template
from tests.support.policy_programs_eks import (
    asg,
    efa_cluster,
    on_demand,
    on_demand_nodes,
    plugin,
    private_cluster,
    release,
)
from trainyard.components.catalog.efa import EFA_PLUGIN_INSTANCE_TYPES
from trainyard.policies.rules.efa.efa_plugin_instance_types import POLICY

OLD = ("g4dn.12xlarge", "g5.48xlarge", "p4d.24xlarge")
LABEL, OLD_LABEL = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"
COMPUTE = "eks.amazonaws.com/compute-type"
G7E = on_demand(instanceType="g7e.48xlarge", networkInterfaces=p5_interfaces()[:2])
VIOLATING = (
    efa_cluster(plugin(*OLD)),
    efa_cluster(release(values={"supportedInstanceLabels": {"values": [*OLD]}})),
    (private_cluster(), G7E, on_demand_nodes(), release(version="v0.5.20"), *EFA_NETWORK),
)
CLEAN = (
    efa_cluster(plugin(*OLD, "p5.48xlarge")),
    efa_cluster(release()),
    (private_cluster(), G7E, on_demand_nodes(), release(version="v0.5.23"), *EFA_NETWORK),
)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "efa-plugin: it does not run on p5.48xlarge, the type of p5-nodes"),
        (VIOLATING[1], "add the type to supportedInstanceLabels.values of the chart"),
        (VIOLATING[2], "efa-chart: it does not run on g7e.48xlarge"),
    ],
    ids=["daemon-set", "values", "chart-version"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


def self_managed(**tags):
    listed = [{"key": key, "value": "owned"} for key in tags.values()]
    return private_cluster(), on_demand(), asg(tags=listed), plugin(*OLD), *EFA_NETWORK


def test_self_managed_nodes_of_a_cluster_are_known_by_their_tag():
    assert check(POLICY, *self_managed(key="kubernetes.io/cluster/training")).messages
    assert check(POLICY, *self_managed(key="Name")).messages == []


def test_a_node_selector_counts_as_the_affinity_does():
    selector = {"node.kubernetes.io/instance-type": "p4d.24xlarge"}
    assert check(POLICY, *efa_cluster(plugin(nodeSelector=selector))).messages


def of_terms(*expressions):
    terms = [{"matchExpressions": [each]} for each in expressions]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    made = plugin(affinity={"nodeAffinity": required})
    return efa_cluster(Declared(made.type, made.name, made.props, {"spec": ["training"]}))


@pytest.mark.parametrize(
    ("expressions", "fails"),
    [
        ([{"key": LABEL, "operator": "NotIn", "values": ["p5.48xlarge"]}], True),
        ([{"key": LABEL, "operator": "NotIn", "values": ["p4d.24xlarge"]}], False),
        (
            [
                {"key": LABEL, "operator": "In", "values": [*OLD]},
                {
                    "key": OLD_LABEL,
                    "operator": "In",
                    "values": ["p5.48xlarge"],
                },
            ],
            False,
        ),
        (
            [{"key": COMPUTE, "operator": "NotIn", "values": ["auto"]}],
            False,
        ),
        ([{"key": LABEL, "operator": "In", "values": [UNKNOWN]}], False),
    ],
    ids=["not-in", "not-in-others", "one-term-is-enough", "another-label", "not-known-yet"],
)
def test_an_affinity_is_read_as_kubernetes_reads_it(expressions, fails):
    assert bool(check(POLICY, *of_terms(*expressions)).messages) == fails


def test_a_second_plugin_may_run_on_the_rest():
    rest = plugin("p5.48xlarge", name="efa-plugin-for-p5")
    assert check(POLICY, *efa_cluster(plugin(*OLD), rest)).messages == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(efa_cluster(plugin(*EFA_PLUGIN_INSTANCE_TYPES)), id="our-list"),
        pytest.param(efa_cluster(plugin()), id="everywhere"),
        pytest.param(efa_cluster(), id="installed-elsewhere"),
        pytest.param(efa_cluster(plugin(*OLD, image="nginx:1.27")), id="another-daemon-set"),
        pytest.param((private_cluster("other"), *efa_cluster(plugin(*OLD))), id="which-cluster"),
        pytest.param(efa_cluster(release("eks/aws-efa-k8s-device-plugin")), id="with-repository"),
        pytest.param(
            efa_cluster(release(version="v0.4.2", valueYamlFiles=["values.yaml"])), id="value-files"
        ),
        pytest.param(efa_cluster(release(version="v0.4.2")), id="listed-from-the-start"),
        pytest.param((private_cluster(), template(), plugin(*OLD)), id="template-without-nodes"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_values_that_are_not_known_yet_are_said():
    made = release(values={"supportedInstanceLabels": {"values": UNKNOWN}})
    unknown = Declared(made.type, made.name, made.props, {"values": ["training"]})
    found = check(POLICY, *efa_cluster(unknown))
    assert found.messages == []
    assert "efa-chart.values" in found.undecided[0]
