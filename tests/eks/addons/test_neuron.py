"""The Neuron device plugin and scheduler: official content, with the rights they need."""

import pytest
import yaml

from tests.eks.addons.support.addons import program_of
from tests.support.kubernetes import DEFAULT
from trainyard.components.catalog.neuron import NEURON_PLUGIN_INSTANCE_TYPES
from trainyard.components.config.eks import Taint
from trainyard.components.eks.addons.neuron_device_plugin import NEURON_DEVICE_PLUGIN
from trainyard.components.eks.addons.neuron_scheduler import NEURON_SCHEDULER

TAINT = Taint(key="team", value="vision", effect="NoExecute")


@pytest.fixture
def plugin(deploy):
    """The registered Neuron device plugin for tainted nodes."""
    return deploy(program_of("plugin", NEURON_DEVICE_PLUGIN, taints=[TAINT]))


@pytest.fixture
def scheduler(deploy):
    """The registered Neuron scheduler."""
    return deploy(program_of("scheduler", NEURON_SCHEDULER))


def pod(cloud, name):
    return cloud.one(name).inputs["spec"]["template"]["spec"]


def rules(cloud, name):
    """The permissions of a cluster role, as resource → verbs."""
    return {
        resource: set(rule["verbs"])
        for rule in cloud.one(name).inputs["rules"]
        for resource in rule["resources"]
    }


def test_the_device_plugin_stands_as_its_chart_renders_it(plugin):
    """EKX-10: pinned to the release of the chart."""
    made = plugin.one("plugin-daemon-set").inputs
    assert made["metadata"]["name"] == "neuron-device-plugin"
    assert made["metadata"]["namespace"] == "kube-system"
    assert made["spec"]["selector"] == {"matchLabels": {"name": "neuron-device-plugin-ds"}}
    spec = pod(plugin, "plugin-daemon-set")
    assert spec["serviceAccountName"] == "neuron-device-plugin"
    assert spec["priorityClassName"] == "system-node-critical"
    (container,) = spec["containers"]
    assert container["image"] == "public.ecr.aws/neuron/neuron-device-plugin:2.32.0.0"
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["env"] == [
        {"name": "KUBECONFIG", "value": "/etc/kubernetes/kubelet.conf"},
        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    assert container["volumeMounts"] == [
        {"name": "device-plugin", "mountPath": "/var/lib/kubelet/device-plugins"},
        {"name": "infa-map", "mountPath": "/run"},
        {"name": "aws-config", "mountPath": "/opt/aws", "readOnly": True},
    ]
    assert {v["name"]: v["hostPath"]["path"] for v in spec["volumes"]} == {
        m["name"]: m["mountPath"] for m in container["volumeMounts"]
    }


def test_the_device_plugin_runs_on_the_types_of_its_chart_and_tolerates_the_groups_taints(plugin):
    """A20."""
    spec = pod(plugin, "plugin-daemon-set")
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    expressions = required["nodeSelectorTerms"][0]["matchExpressions"]
    assert expressions[0]["values"] == sorted(NEURON_PLUGIN_INSTANCE_TYPES)
    assert spec["tolerations"] == [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "aws.amazon.com/neuron", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoExecute"},
    ]


def test_the_device_plugin_may_see_nodes_and_change_pods_and_the_status_of_nodes(plugin):
    assert rules(plugin, "plugin-account-role") == {
        "nodes": {"get", "list", "watch"},
        "events": {"create", "patch"},
        "pods": {"update", "patch", "get", "list", "watch"},
        "nodes/status": {"patch", "update"},
    }
    binding = plugin.one("plugin-account-binding").inputs
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "neuron-device-plugin",
    }
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "neuron-device-plugin", "namespace": "kube-system"}
    ]


def test_the_device_plugin_waits_for_its_nodes_and_its_rights(plugin):
    waits_for = plugin.one("plugin-daemon-set").dependencies
    assert plugin.one("nodes").urn in waits_for
    assert plugin.one("plugin-account-binding").urn in waits_for


def test_the_second_scheduler_asks_the_extension_about_pods_with_neuron_devices(scheduler):
    data = scheduler.one("scheduler-config").inputs["data"]
    config = yaml.safe_load(data["my-scheduler-config.yaml"])
    assert config["profiles"] == [{"schedulerName": "my-scheduler"}]
    (extender,) = config["extenders"]
    service = scheduler.one("scheduler-extension-service").inputs
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    port = service["spec"]["ports"][0]["port"]
    assert extender["urlPrefix"] == f"http://{name}.{namespace}.svc.cluster.local:{port}"
    assert (extender["filterVerb"], extender["bindVerb"]) == ("filter", "bind")
    assert [resource["name"] for resource in extender["managedResources"]] == [
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
    ]
    assert extender["ignorable"] is False


def test_the_second_scheduler_is_kubernetes_own_of_the_clusters_version(scheduler):
    spec = pod(scheduler, "scheduler-deployment")
    (container,) = spec["containers"]
    registry, _, tag = container["image"].rpartition(":")
    assert registry == "public.ecr.aws/eks-distro/kubernetes/kube-scheduler"
    assert tag.startswith(f"v{DEFAULT}.")
    assert container["command"] == ["/usr/local/bin/kube-scheduler"]
    assert "--config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml" in container["args"]
    assert container["volumeMounts"] == [
        {"name": "config-volume", "mountPath": "/etc/kubernetes/my-scheduler"}
    ]
    assert "schedulerName" not in spec


def test_the_second_scheduler_has_the_roles_of_kubernetes_own(scheduler):
    bindings = {
        made.inputs["metadata"]["name"]: made.inputs["roleRef"]["name"]
        for made in scheduler.of_type("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")
    }
    assert bindings == {
        "my-scheduler": "my-scheduler",
        "my-scheduler-as-kube-scheduler": "system:kube-scheduler",
        "my-scheduler-as-volume-scheduler": "system:volume-scheduler",
        "k8s-neuron-scheduler": "k8s-neuron-scheduler",
    }
    assert rules(scheduler, "scheduler-account-role") == {
        "configmaps": {"get", "list", "watch"},
        "leases": {"create", "get", "list", "update"},
    }
    assert rules(scheduler, "scheduler-extension-account-role")["pods/binding"] == {"create"}


def test_there_is_one_extension_at_a_time_and_the_second_scheduler_places_it(scheduler):
    made = scheduler.one("scheduler-extension-deployment")
    assert made.inputs["spec"]["strategy"] == {"type": "Recreate"}
    assert made.inputs["spec"]["replicas"] == 1
    spec = pod(scheduler, "scheduler-extension-deployment")
    assert spec["schedulerName"] == "my-scheduler"
    (container,) = spec["containers"]
    assert container["image"] == "public.ecr.aws/neuron/neuron-scheduler:2.32.0.0"
    assert container["env"] == [{"name": "PORT", "value": "12345"}]
    assert scheduler.one("scheduler-deployment").urn in made.dependencies


@pytest.mark.parametrize("name", ["scheduler-deployment", "scheduler-extension-deployment"])
def test_both_keep_away_from_nodes_that_come_and_go(scheduler, name):
    affinity = pod(scheduler, name)["affinity"]["nodeAffinity"]
    (term,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    (expression,) = term["preference"]["matchExpressions"]
    assert expression["key"] == "node.kubernetes.io/instance-type"
    assert expression["operator"] == "NotIn"
    assert "trn1.32xlarge" in expression["values"]


def test_the_service_selects_the_extension_and_is_not_waited_for(scheduler):
    """Its pod is created after it; Pulumi would wait for an endpoint that does not exist."""
    service = scheduler.one("scheduler-extension-service").inputs
    template = scheduler.one("scheduler-extension-deployment").inputs["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert service["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
