"""The device plugins: official content, on the nodes with the device."""

import pytest

from tests.eks.addons.support.addons import program_of
from trainyard.components.catalog.efa import EFA_PLUGIN_INSTANCE_TYPES, efa_device_plugin_image
from trainyard.components.catalog.image_digests import by_content
from trainyard.components.config.eks import Taint
from trainyard.components.eks.addons.efa_device_plugin import EFA_DEVICE_PLUGIN
from trainyard.components.eks.addons.nvidia_device_plugin import IMAGE, NVIDIA_DEVICE_PLUGIN

TAINT = Taint(key="team", value="vision", effect="NoExecute")


@pytest.fixture
def plugin(deploy):
    """Deploy a device plugin and return the registered resources."""

    def run(addon, *taints):
        types = ["p5.48xlarge", "g6.8xlarge", "p5.48xlarge"]
        return deploy(program_of("plugin", addon, instance_types=types, taints=taints))

    return run


def daemon_set(cloud):
    return cloud.one("plugin-daemon-set").inputs


def pod(cloud):
    return daemon_set(cloud)["spec"]["template"]["spec"]


def expressions(cloud):
    affinity = pod(cloud)["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return {e["key"]: (e["operator"], e["values"]) for e in term["matchExpressions"]}


def test_nvidias_manifest_stands_as_it_is_published(plugin):
    """PR-26, EKX-08: the static manifest of the pinned release."""
    made = daemon_set(plugin(NVIDIA_DEVICE_PLUGIN))
    assert made["metadata"] == {
        "name": "nvidia-device-plugin-daemonset",
        "namespace": "kube-system",
    }
    assert made["spec"]["selector"] == {"matchLabels": {"name": "nvidia-device-plugin-ds"}}
    assert made["spec"]["template"]["metadata"]["labels"] == {"name": "nvidia-device-plugin-ds"}
    spec = made["spec"]["template"]["spec"]
    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["containers"] == [
        {
            "name": "nvidia-device-plugin-ctr",
            "image": by_content(IMAGE),
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {
                    "name": "kubelet-device-plugins-dir",
                    "mountPath": "/var/lib/kubelet/device-plugins",
                }
            ],
        }
    ]
    assert spec["volumes"] == [
        {
            "name": "kubelet-device-plugins-dir",
            "hostPath": {"path": "/var/lib/kubelet/device-plugins", "type": "Directory"},
        }
    ]


def test_nvidias_plugin_runs_where_there_is_a_gpu(plugin):
    """On other nodes it fails, and the DaemonSet never becomes available."""
    found = expressions(plugin(NVIDIA_DEVICE_PLUGIN))
    assert found["node.kubernetes.io/instance-type"] == ("In", ["g6.8xlarge", "p5.48xlarge"])


def test_the_efa_plugin_runs_on_the_types_of_its_chart(plugin):
    """Pain 11: the plan refuses a type that is missing in the list."""
    found = expressions(plugin(EFA_DEVICE_PLUGIN))
    assert found["node.kubernetes.io/instance-type"] == ("In", sorted(EFA_PLUGIN_INSTANCE_TYPES))
    assert "p5.48xlarge" in found["node.kubernetes.io/instance-type"][1]


@pytest.mark.parametrize("addon", [NVIDIA_DEVICE_PLUGIN, EFA_DEVICE_PLUGIN])
def test_nodes_of_auto_mode_bring_plugins_of_their_own(plugin, addon):
    found = expressions(plugin(addon))
    assert found["eks.amazonaws.com/compute-type"] == ("NotIn", ["auto"])


def test_the_efa_chart_stands_as_it_renders(plugin):
    """PR-27, PR-28: pinned instead of `main`; privileged, with its three host paths."""
    made = daemon_set(plugin(EFA_DEVICE_PLUGIN))
    assert made["metadata"]["name"] == "aws-efa-k8s-device-plugin"
    spec = made["spec"]["template"]["spec"]
    assert spec["hostNetwork"] is True
    assert spec["automountServiceAccountToken"] is False
    assert spec["priorityClassName"] == "system-node-critical"
    (container,) = spec["containers"]
    assert container["image"] == efa_device_plugin_image("us-west-2")
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": True,
        "privileged": True,
        "runAsNonRoot": False,
        "runAsUser": 0,
    }
    assert container["resources"] == {"requests": {"cpu": "10m", "memory": "20Mi"}}
    assert {m["name"]: m["mountPath"] for m in container["volumeMounts"]} == {
        "device-plugin": "/var/lib/kubelet/device-plugins",
        "infiniband-volume": "/dev/infiniband/",
        "neuron-tools": "/opt/aws/neuron/",
    }
    assert spec["volumes"] == [
        {"name": "device-plugin", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}},
        {"name": "infiniband-volume", "hostPath": {"path": "/dev/infiniband/"}},
        {
            "name": "neuron-tools",
            "hostPath": {"path": "/opt/aws/neuron/", "type": "DirectoryOrCreate"},
        },
    ]


def test_the_efa_plugin_tolerates_what_its_chart_does_and_gpu_nodes(plugin):
    """Pain 11: the chart does not tolerate `nvidia.com/gpu`."""
    assert pod(plugin(EFA_DEVICE_PLUGIN))["tolerations"] == [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]


def test_nvidias_plugin_tolerates_what_its_manifest_does(plugin):
    assert pod(plugin(NVIDIA_DEVICE_PLUGIN))["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize("addon", [NVIDIA_DEVICE_PLUGIN, EFA_DEVICE_PLUGIN])
def test_taints_of_the_node_groups_are_tolerated_once(plugin, addon):
    assert pod(plugin(addon, TAINT, TAINT))["tolerations"][-1:] == [
        {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoExecute"}
    ]
    assert len(pod(plugin(addon, TAINT, TAINT))["tolerations"]) == (
        len(pod(plugin(addon))["tolerations"]) + 1
    )


@pytest.mark.parametrize("addon", [NVIDIA_DEVICE_PLUGIN, EFA_DEVICE_PLUGIN])
def test_a_plugin_waits_for_its_nodes_and_is_closed(plugin, addon):
    cloud = plugin(addon)
    made = cloud.one("plugin-daemon-set")
    assert cloud.one("nodes").urn in made.dependencies
    assert cloud.one("cluster").urn in made.provider
    assert made.parent in cloud.closed
    assert made.parent.endswith(f"trainyard:runtime:{addon.component}::plugin")
