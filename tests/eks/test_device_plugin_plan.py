import pytest

from components.catalog.instance_types import INSTANCE_TYPES
from components.catalog.neuron import NEURON_PLUGIN_INSTANCE_TYPES
from components.config.eks import Taint
from components.eks.device_plugin_plan import plan_device_plugins
from tests.support.stack_files import PRIVATE, changed, group_before_review, p5, plan, plan_problems

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def trn1(**group):
    return p5(instance_type="trn1.32xlarge", purchase_option="on-demand", **group)


@pytest.mark.parametrize(
    ("raw", "plugins"),
    [
        pytest.param(p5(), ("nvidia", "efa"), id="gpus-with-efa"),
        pytest.param(p5(efa_enabled=False), ("nvidia",), id="gpus-without-efa"),
        pytest.param(
            trn1(availability_zone="us-west-2b"), ("neuron", "efa"), id="trainium-with-efa"
        ),
        pytest.param(
            p5(instance_type="m5.large", efa_enabled=False, purchase_option="on-demand"),
            (),
            id="no-devices",
        ),
    ],
)
def test_plugins_follow_from_the_devices_of_the_nodes(raw, plugins):
    assert plan_device_plugins([group_before_review(raw)]) == plugins


def test_plugins_tolerate_the_taints_of_nodes_with_devices():
    """A20."""
    assert plan(p5(taints=[GPU_TAINT])).device_plugin_tolerations == (Taint(**GPU_TAINT),)


def test_a_taint_of_two_node_groups_is_tolerated_once():
    raw = p5(taints=[GPU_TAINT], desired=1)
    groups = raw["architecture"]["node_groups"]
    groups["second"] = dict(groups["p5"])
    assert plan(raw).device_plugin_tolerations == (Taint(**GPU_TAINT),)


def test_taints_of_nodes_without_devices_are_left_alone():
    raw = changed(
        architecture__node_groups__services={
            "instance_type": "m5.large",
            "desired": 1,
            "maximum": 1,
            "taints": [{"key": "dedicated", "effect": "NoSchedule"}],
        }
    )
    assert plan(raw).device_plugin_tolerations == ()


def test_refuses_a_type_that_the_neuron_plugin_does_not_run_on(monkeypatch):
    monkeypatch.setattr("components.eks.device_plugin_plan.NEURON_PLUGIN_INSTANCE_TYPES", ("x",))
    problem = plan_problems(trn1(subnet_id=PRIVATE[0]))["architecture.node_groups.p5.instance_type"]
    assert "no Neuron device" in problem.problem


@pytest.mark.parametrize(
    "name", [n for n, t in INSTANCE_TYPES.items() if n.startswith(("trn", "inf"))]
)
def test_the_neuron_plugin_runs_on_every_known_type_with_neuron_devices(name):
    assert name in NEURON_PLUGIN_INSTANCE_TYPES


@pytest.mark.parametrize(
    ("raw", "wanted", "installed"),
    [
        pytest.param(trn1(subnet_id=PRIVATE[0]), True, True, id="neuron"),
        pytest.param(trn1(subnet_id=PRIVATE[0]), False, False, id="left-out"),
        pytest.param(p5(), True, False, id="nothing-to-schedule"),
    ],
)
def test_the_neuron_scheduler_stands_beside_its_plugin_unless_it_is_left_out(
    raw, wanted, installed
):
    raw["architecture"]["addons"] = {"neuron_scheduler": wanted}
    assert plan(raw).neuron_scheduler is installed


def test_refuses_a_type_that_the_efa_plugin_does_not_run_on(monkeypatch):
    """A19: the node would have no EFA device, and NCCL would use TCP without an error."""
    monkeypatch.setattr("components.eks.device_plugin_plan.EFA_PLUGIN_INSTANCE_TYPES", ("x",))
    problem = plan_problems(p5())["architecture.node_groups.p5.instance_type"]
    assert "TCP" in problem.problem
