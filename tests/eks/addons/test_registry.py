"""Self-managed add-ons of a cluster, and their nodes."""

import pytest

from tests.support.eks import PRIVATE, changed, config, group_before_review, p5, refusals
from tests.support.kubernetes import DEFAULT
from tests.support.stack_files import plan_from
from trainyard.components.catalog.image_references import in_registry
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.neuron import NEURON_PLUGIN_INSTANCE_TYPES
from trainyard.components.config.eks import Taint
from trainyard.components.eks.addons import registry
from trainyard.components.eks.addons.addon import AddonTarget

ADDONS = "trainyard.components.eks.addons"
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def controllers(addon):
    """Return the DaemonSets and Deployments of an add-on."""
    target = AddonTarget(
        region="us-west-2", kubernetes_version=DEFAULT, instance_types=["p5.48xlarge"], taints=[]
    )
    return [workload.controller for workload in addon.workloads(target)]


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
    raw["architecture"]["addons"] = {"neuron_scheduler": False, "node_termination_handler": False}
    planned = registry.plan_self_managed_addons(config(raw), [group_before_review(raw)])
    assert tuple(planned) == plugins


def test_plugins_tolerate_the_taints_of_nodes_with_devices():
    """A20."""
    assert plan_from(p5(taints=[GPU_TAINT])).device_plugin_tolerations == (Taint(**GPU_TAINT),)


def test_a_taint_of_two_node_groups_is_tolerated_once():
    raw = p5(taints=[GPU_TAINT], desired=1)
    groups = raw["architecture"]["node_groups"]
    groups["second"] = dict(groups["p5"])
    assert plan_from(raw).device_plugin_tolerations == (Taint(**GPU_TAINT),)


def test_taints_of_nodes_without_devices_are_left_alone():
    raw = changed(
        architecture__node_groups__services={
            "instance_type": "m5.large",
            "desired": 1,
            "maximum": 1,
            "taints": [{"key": "dedicated", "effect": "NoSchedule"}],
        }
    )
    assert plan_from(raw).device_plugin_tolerations == ()


def test_refuses_a_type_that_the_neuron_plugin_does_not_run_on(monkeypatch):
    monkeypatch.setattr(f"{ADDONS}.neuron_device_plugin.NEURON_PLUGIN_INSTANCE_TYPES", ("x",))
    problem = refusals(trn1(subnet_id=PRIVATE[0]))["architecture.node_groups.p5.instance_type"]
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
    assert ("neuron-scheduler" in plan_from(raw).self_managed_addons) is installed


def test_refuses_a_type_that_the_efa_plugin_does_not_run_on(monkeypatch):
    """A19: the node would have no EFA device, and NCCL would silently use TCP."""
    monkeypatch.setattr(f"{ADDONS}.efa_device_plugin.EFA_PLUGIN_INSTANCE_TYPES", ("x",))
    problem = refusals(p5())["architecture.node_groups.p5.instance_type"]
    assert "TCP" in problem.problem


def test_only_self_managed_nodes_are_drained_by_the_handler():
    """EKN-16: EKS itself drains managed groups."""
    group = "architecture__node_groups__p5__management"
    assert plan_from(changed()).self_managed_addons["termination"] == ("p5",)
    assert registry.drained_node_groups(plan_from(changed())) == ["p5"]
    assert "termination" not in plan_from(changed(**{group: "managed"})).self_managed_addons


def test_the_handler_can_be_left_out():
    addons = {"node_termination_handler": False}
    planned = plan_from(changed(architecture__addons=addons))
    assert "termination" not in planned.self_managed_addons
    assert registry.drained_node_groups(planned) == []


def test_somebody_else_may_hand_out_efa():
    """Rule A21."""
    addons = {"efa_device_plugin": False}
    assert registry.device_plugins(plan_from(changed(architecture__addons=addons))) == ["nvidia"]


@pytest.mark.parametrize("addon", registry.SELF_MANAGED_ADDONS.values(), ids=lambda it: it.name)
def test_an_add_on_says_whether_its_image_is_public(addon):
    """The scheduler is always installed with the Neuron plugin, which uses the same registry."""
    pods = [workload["spec"]["template"]["spec"] for workload in controllers(addon)]
    images = [container["image"] for pod in pods for container in pod["containers"]]
    assert [in_registry(image, starts="EKS").name for image in images] == images
    public = not any(".dkr.ecr." in image for image in images)
    assert public is (addon.public_image is not None or addon.name == "neuron-scheduler")


@pytest.mark.parametrize("addon", registry.SELF_MANAGED_ADDONS.values(), ids=lambda it: it.name)
def test_the_daemon_set_that_runs_on_its_nodes_is_the_one_it_installs(addon):
    made = [each for each in controllers(addon) if each["kind"] == "DaemonSet"]
    names = [each["metadata"]["name"] for each in made]
    assert names == ([addon.daemon_set] if addon.daemon_set else [])
