"""Installed device plugins, their images and their nodes."""

from dataclasses import replace

import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest

from tests.support.eks import P5, SCHEDULED, eks_plan, nodes_of
from tests.support.kubernetes import DEFAULT, PREVIOUS
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.catalog.neuron import NEURON_DEVICE_PLUGIN_IMAGE
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.config.eks import Taint
from trainyard.components.eks.cluster_services import DevicePlugins, SelfManagedAddonsArgs

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


@pytest.fixture
def plugins(deploy):
    """Deploy the device plugins of a plan."""

    def run(plan):
        def program():
            ready = {group.name: aws.ec2.SecurityGroup(group.name) for group in plan.node_groups}
            provider = kubernetes.Provider("cluster", kubeconfig="{}")
            args = SelfManagedAddonsArgs(plan=plan, provider=provider, ready=ready)
            DevicePlugins("plugins", args)

        return deploy(program)

    return run


def pod(cloud, device):
    return cloud.one(f"plugins-{device}-daemon-set").inputs["spec"]["template"]["spec"]


def types(cloud, device):
    required = pod(cloud, device)["affinity"]["nodeAffinity"]
    (term,) = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (values,) = (e["values"] for e in term["matchExpressions"] if e["key"] == INSTANCE_TYPE)
    return values


def test_images_are_pinned(plugins):
    """PR-26, PR-27: no `main`, no `latest`, and a digest where one is known."""
    cloud = plugins(eks_plan())
    assert pod(cloud, "nvidia")["containers"][0]["image"] == (
        "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
        "@sha256:a61ba9fd8efb82f3a79f877f7580e02c1e8e7593f62473644bc9c79e315c3312"
    )
    assert pod(cloud, "efa")["containers"][0]["image"] == (
        "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:"
        "v0.5.21-eksbuild.9"
    )


def test_the_efa_image_comes_from_the_registry_of_the_region(plugins):
    image = pod(plugins(eks_plan(region="cn-north-1")), "efa")["containers"][0]["image"]
    assert image.startswith("918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/")


def test_the_nvidia_plugin_goes_to_every_type_with_a_gpu_and_to_no_other(plugins):
    g6 = replace(P5, name="g6", instance_type=instance_type("g6.8xlarge"))
    assert types(plugins(eks_plan(P5, g6)), "nvidia") == ["g6.8xlarge", "p5.48xlarge"]


def test_taints_of_the_plan_are_tolerated(plugins):
    taint = Taint(key="team", value="vision", effect="NoExecute")
    cloud = plugins(eks_plan(device_plugin_tolerations=(taint,)))
    wanted = {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoExecute"}
    assert wanted in pod(cloud, "nvidia")["tolerations"]
    assert wanted in pod(cloud, "efa")["tolerations"]


def test_plugins_wait_only_for_nodes_with_their_device_that_are_expected_now(plugins):
    later = replace(P5, name="later", schedule=SCHEDULED)
    cloud = plugins(eks_plan(P5, later))
    waits_for = cloud.one("plugins-nvidia-daemon-set").dependencies
    assert cloud.one("p5").urn in waits_for
    assert not {cloud.one("later").urn, cloud.one("system").urn} & waits_for


@pytest.fixture
def neuron(plugins):
    """The device plugins of a stack with Trainium and EFA."""

    def run(**changes):
        taint = Taint(key="aws.amazon.com/neuron", value="true", effect="NoSchedule")
        return plugins(eks_plan(nodes_of("trn1.32xlarge", taints=(taint,)), **changes))

    return run


def test_trainium_gets_the_neuron_and_the_efa_plugin_and_no_other(neuron):
    cloud = neuron()
    assert pod(cloud, "neuron")["containers"][0]["image"] == NEURON_DEVICE_PLUGIN_IMAGE
    assert "trn1.32xlarge" in types(cloud, "neuron")
    assert "trn1.32xlarge" in types(cloud, "efa")
    assert not [made.name for made in cloud.registered if "nvidia" in made.name]


def test_plugins_wait_for_the_nodes_with_neuron_devices(neuron):
    cloud = neuron()
    assert cloud.one("trn1").urn in cloud.one("plugins-neuron-daemon-set").dependencies


@pytest.mark.parametrize("version", [PREVIOUS, DEFAULT])
def test_the_neuron_scheduler_is_of_the_clusters_version_and_waits_for_system_nodes(
    neuron, version
):
    cloud = neuron(kubernetes_version=version)
    made = cloud.one("plugins-neuron-scheduler-deployment")
    (container,) = made.inputs["spec"]["template"]["spec"]["containers"]
    assert container["image"] == EKS_VERSIONS[version].kube_scheduler_image
    assert cloud.one("system").urn in made.dependencies
    assert cloud.one("trn1").urn not in made.dependencies


def test_the_neuron_scheduler_can_be_left_out(neuron):
    cloud = neuron(self_managed_addons={"neuron": ("trn1",)})
    assert not [made.name for made in cloud.registered if "scheduler" in made.name]
    assert pod(cloud, "neuron")
