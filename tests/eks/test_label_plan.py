import pytest

from components.eks.label_plan import kubelet_may_set
from tests.support.stack_files import changed, p5, plan_problems


@pytest.mark.parametrize(
    "label",
    [
        "team",
        "example.com/team",
        "node.kubernetes.io/pool",
        "my.node.kubernetes.io/pool",
        "kubelet.kubernetes.io/pool",
        "topology.kubernetes.io/zone",
        "not-kubernetes.io/x",
    ],
)
def test_labels_that_a_kubelet_may_set(label):
    assert kubelet_may_set(label)


@pytest.mark.parametrize(
    "label", ["kubernetes.io/team", "node-role.kubernetes.io/worker", "x.k8s.io/y", "k8s.io/a"]
)
def test_labels_that_a_kubelet_may_not_set(label):
    assert not kubelet_may_set(label)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(
            p5(labels={"node-role.kubernetes.io/gpu": "true"}),
            "architecture.node_groups.p5.labels",
            id="node-group",
        ),
        pytest.param(
            changed(architecture__system_node_group={"labels": {"kubernetes.io/x": "y"}}),
            "architecture.system_node_group.labels",
            id="system-node-group",
        ),
    ],
)
def test_refuses_labels_with_which_no_node_would_join(raw, path):
    assert "never join" in plan_problems(raw)[path].problem


def test_refuses_a_taint_given_twice():
    taint = {"key": "a", "effect": "NoSchedule"}
    found = plan_problems(p5(taints=[taint, {**taint, "value": "b"}]))
    assert found["architecture.node_groups.p5.taints"].found == "a:NoSchedule"
