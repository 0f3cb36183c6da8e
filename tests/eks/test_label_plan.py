import pytest

from tests.support.constraints import CONSTRAINTS
from tests.support.eks import changed, p5, refusals
from trainyard.components.eks.label_plan import kubelet_may_set


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
    assert "never join" in refusals(raw)[path].problem


def test_refuses_a_taint_given_twice():
    taint = {"key": "a", "effect": "NoSchedule"}
    found = refusals(p5(taints=[taint, {**taint, "value": "b"}]))
    assert found["architecture.node_groups.p5.taints"].found == "a:NoSchedule"


GROUP = "architecture.node_groups.p5"
LIMITS = {
    "key": CONSTRAINTS["eks.CreateNodegroup.labels{key}"]["max"],
    "value": CONSTRAINTS["eks.CreateNodegroup.labels{value}"]["max"],
}
TAINT = {"effect": "NoSchedule"}


def managed(**values):
    return p5(
        management="managed",
        purchase_option="on-demand",
        instance_type="g4dn.8xlarge",
        efa_enabled=False,
        **values,
    )


@pytest.mark.parametrize(
    "values",
    [
        {"labels": {"k" * LIMITS["key"]: "v" * LIMITS["value"]}},
        {"labels": {"example.com/" + "k" * (LIMITS["key"] - 12): "x"}},
        {"taints": [{"key": "k" * LIMITS["key"], "value": "", **TAINT}]},
        {"taints": [{"key": f"k{index}", **TAINT} for index in range(50)]},
        {"labels": {"not-eks.amazonaws.com/x": "y"}},
    ],
    ids=["as long as can be", "prefix", "taint without value", "50 taints", "own namespace"],
)
def test_labels_and_taints_that_eks_accepts(values):
    found = refusals(managed(**values))
    assert not [key for key in found if key.startswith(GROUP)]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"labels": {"example.com/" + "k" * (LIMITS["key"] - 11): "x"}}, "labels"),
        ({"labels": {"team": ""}}, "labels"),
        ({"taints": [{"key": "example.com/" + "k" * 52, **TAINT}]}, "taints"),
        ({"taints": [{"key": f"k{index}", **TAINT} for index in range(51)]}, "taints"),
    ],
    ids=["long key", "no value", "long key of a taint", "51 taints"],
)
def test_labels_and_taints_that_eks_refuses_for_a_managed_group(values, key):
    assert f"{GROUP}.{key}" in refusals(managed(**values))
    assert f"{GROUP}.{key}" not in refusals(p5(management="self-managed", **values))
