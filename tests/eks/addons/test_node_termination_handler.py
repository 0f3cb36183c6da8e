"""The node termination handler: the chart's content, on self-managed nodes only."""

import pytest

from tests.eks.addons.support.addons import program_of
from trainyard.components.eks.addons.node_termination_handler import NODE_TERMINATION_HANDLER

NAME = "aws-node-termination-handler"


@pytest.fixture
def cloud(deploy):
    types = ["p5.48xlarge", "g4dn.8xlarge", "p5.48xlarge"]
    return deploy(program_of("drain", NODE_TERMINATION_HANDLER, instance_types=types))


def pod(cloud):
    return cloud.one("drain-daemon-set").inputs["spec"]["template"]["spec"]


def environment(cloud):
    (container,) = pod(cloud)["containers"]
    return {each["name"]: each.get("value") for each in container["env"]}


def test_the_daemon_set_is_the_charts(cloud):
    made = cloud.one("drain-daemon-set").inputs
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == (NAME, "kube-system")
    assert made["metadata"]["labels"]["helm.sh/chart"] == f"{NAME}-0.27.6"
    selector = made["spec"]["selector"]["matchLabels"]
    assert selector.items() <= made["spec"]["template"]["metadata"]["labels"].items()
    assert made["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%"},
    }
    spec = pod(cloud)
    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["securityContext"] == {
        "fsGroup": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = spec["containers"]
    assert container["image"] == f"public.ecr.aws/aws-ec2/{NAME}:v1.25.6"
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsUser": 1000,
        "runAsGroup": 1000,
    }
    assert container["volumeMounts"] == [
        {"name": "uptime", "mountPath": "/proc/uptime", "readOnly": True}
    ]
    assert spec["volumes"] == [{"name": "uptime", "hostPath": {"path": "/proc/uptime"}}]


def test_it_reads_the_metadata_from_the_network_of_the_node(cloud):
    """Nodes require IMDSv2; from the host network one hop is enough."""
    assert pod(cloud)["hostNetwork"] is True
    assert pod(cloud)["dnsPolicy"] == "ClusterFirstWithHostNet"


def test_it_drains_on_everything_that_takes_a_node_away(cloud):
    """EKN-16: spot interruption, scheduled event, and Auto Scaling's termination."""
    found = environment(cloud)
    assert found["ENABLE_SPOT_INTERRUPTION_DRAINING"] == "true"
    assert found["ENABLE_SCHEDULED_EVENT_DRAINING"] == "true"
    assert found["ENABLE_ASG_LIFECYCLE_DRAINING"] == "true"
    assert found["ENABLE_SQS_TERMINATION_DRAINING"] == "false"


def test_a_rebalance_recommendation_keeps_new_pods_away_and_ends_no_job(cloud):
    found = environment(cloud)
    assert found["ENABLE_REBALANCE_MONITORING"] == "true"
    assert found["ENABLE_REBALANCE_DRAINING"] == "false"


def test_it_runs_on_self_managed_nodes_of_the_stack_only(cloud):
    affinity = pod(cloud)["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {
            "key": "node.kubernetes.io/instance-type",
            "operator": "In",
            "values": ["g4dn.8xlarge", "p5.48xlarge"],
        },
        {"key": "eks.amazonaws.com/nodegroup", "operator": "DoesNotExist"},
        {
            "key": "eks.amazonaws.com/compute-type",
            "operator": "NotIn",
            "values": ["fargate", "auto"],
        },
    ]


def test_no_taint_keeps_it_away(cloud):
    assert pod(cloud)["tolerations"] == [{"operator": "Exists"}]


def test_it_may_cordon_and_evict_and_no_more(cloud):
    rules = cloud.one("drain-handler-role").inputs["rules"]
    allowed = {
        (group, resource): rule["verbs"]
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert allowed == {
        ("", "nodes"): ["get", "list", "patch", "update"],
        ("", "pods"): ["list", "get"],
        ("", "pods/eviction"): ["create"],
        ("extensions", "daemonsets"): ["get"],
        ("apps", "daemonsets"): ["get"],
    }
    binding = cloud.one("drain-handler-binding").inputs
    assert binding["roleRef"]["name"] == cloud.one("drain-handler-role").inputs["metadata"]["name"]
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}
    ]
    assert pod(cloud)["serviceAccountName"] == NAME


def test_it_starts_with_its_permissions_when_the_nodes_are_there(cloud):
    made = cloud.one("drain-daemon-set")
    assert cloud.one("drain-handler-binding").urn in made.dependencies
    assert cloud.one("nodes").urn in made.dependencies
    assert made.parent in cloud.closed
    in_cluster = ("handler-account", "handler-role", "handler-binding", "daemon-set")
    provider = cloud.one("cluster").urn
    assert all(provider in cloud.one(f"drain-{name}").provider for name in in_cluster)
