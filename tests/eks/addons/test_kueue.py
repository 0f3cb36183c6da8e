"""Kueue: the objects of its release, its configuration, and the queue for the nodes of a stack."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.eks.addons.support.addons import program_of
from tests.support.eks import P5, SCHEDULED, SYSTEM, changed, nodes_of, p5, refusals
from tests.support.kubernetes import DEFAULT
from tests.support.stack_files import plan_from
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.eks import Taint
from trainyard.components.eks.addons import kueue
from trainyard.components.eks.addons.addon import AddonTarget
from trainyard.components.eks.addons.kueue import KUEUE
from trainyard.components.eks.addons.released_controller import CONFIGURATION_ANNOTATION
from trainyard.sandbox.providers.kubernetes.servicer import quantity

TAINT = Taint(key="team", value="vision", effect="NoExecute")
PLUGINS = ("nvidia", "neuron", "efa")
KUEUE_TYPE = "kubernetes:kueue.x-k8s.io/v1beta2"


def queue_of(*groups):
    """Return the objects of a queue for node groups, by kind and name."""
    target = AddonTarget(
        region="us-west-2",
        kubernetes_version=DEFAULT,
        instance_types=[],
        taints=[],
        groups=(SYSTEM, *groups),
        plugins=PLUGINS,
    )
    (workload,) = kueue.workloads(target)
    return {
        (each["kind"], each["metadata"]["name"]): each["spec"] for each in workload.objects_after
    }


def quotas(spec):
    (group,) = spec["resourceGroups"]
    return {
        flavor["name"]: {each["name"]: each["nominalQuota"] for each in flavor["resources"]}
        for flavor in group["flavors"]
    }


def test_the_quota_is_what_the_planned_nodes_offer():
    made = queue_of(nodes_of("p5.48xlarge"))
    assert quotas(made["ClusterQueue", "training"]) == {
        "p5": {
            "cpu": "384",
            "memory": "4Ti",
            "nvidia.com/gpu": "16",
            "vpc.amazonaws.com/efa": "64",
        }
    }
    assert made["LocalQueue", "training"] == {"clusterQueue": "training"}


def test_a_block_that_has_not_started_has_the_quota_of_its_nodes():
    made = queue_of(nodes_of("p5.48xlarge", schedule=SCHEDULED))
    assert quotas(made["ClusterQueue", "training"])["p5"]["nvidia.com/gpu"] == "16"


def test_each_group_has_a_quota_for_its_devices_and_none_for_those_of_others():
    """All flavors of a resource group have the same resources, in the same order."""
    made = queue_of(nodes_of("p5.48xlarge"), nodes_of("trn1.32xlarge"), nodes_of("m5.large"))
    spec = made["ClusterQueue", "training"]
    found = quotas(spec)
    assert set(found) == {"p5", "trn1"}
    assert [list(each) for each in found.values()] == [
        spec["resourceGroups"][0]["coveredResources"]
    ] * 2
    assert found["p5"]["aws.amazon.com/neuron"] == found["trn1"]["nvidia.com/gpu"] == "0"
    assert found["trn1"]["aws.amazon.com/neuron"] == "32"


def test_a_flavor_selects_the_nodes_of_its_group_and_tolerates_their_taints():
    group = nodes_of("p5.48xlarge", name="P5_b", labels={"team": "vision"}, taints=(TAINT,))
    assert queue_of(group)["ResourceFlavor", "p5-b"] == {
        "nodeLabels": {"node.kubernetes.io/instance-type": "p5.48xlarge", "team": "vision"},
        "tolerations": [
            {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoExecute"}
        ],
    }


@given(
    nodes=st.integers(0, 5000),
    name=st.sampled_from(["p5.48xlarge", "g4dn.8xlarge", "trn1.2xlarge"]),
)
def test_quotas_are_in_the_form_in_which_kueue_writes_them(nodes, name):
    group = replace(
        P5,
        instance_type=instance_type(name),
        schedule=replace(P5.schedule, desired=nodes, scale_up_desired=0),
    )
    for amount in kueue.quota([group], PLUGINS).values():
        assert quantity(amount) == amount


def test_jobs_start_with_all_of_their_pods_one_after_the_other():
    found = yaml.safe_load(kueue.configuration(has_jobsets=False))
    assert found["waitForPodsReady"]["blockAdmission"] is True
    assert found["integrations"]["frameworks"] == ["batch/job"]


@pytest.mark.parametrize("jobset", [True, False])
def test_job_sets_are_queued_where_the_stack_has_them(jobset):
    """Its controller serves the webhooks of JobSets only if the integration is enabled."""
    plugins = (*PLUGINS, "jobset") if jobset else PLUGINS
    target = AddonTarget(
        region="r", kubernetes_version=DEFAULT, instance_types=[], taints=[], plugins=plugins
    )
    (workload,) = kueue.workloads(target)
    (config_map,) = (e for e in workload.objects_before if e["kind"] == "ConfigMap")
    configuration = yaml.safe_load(config_map["data"]["controller_manager_config.yaml"])
    assert ("jobset.x-k8s.io/jobset" in configuration["integrations"]["frameworks"]) is jobset
    hooks = {hook["name"] for each in workload.objects_before for hook in each.get("webhooks", [])}
    assert ({"mjobset.kb.io", "vjobset.kb.io"} <= hooks) is jobset
    assert {"mjob.kb.io", "vjob.kb.io"} <= hooks


@pytest.fixture
def cloud(deploy):
    return deploy(program_of("kueue", KUEUE, groups=(SYSTEM, P5), plugins=PLUGINS))


def test_the_controller_has_the_pinned_image_on_nodes_without_accelerators(cloud):
    template = cloud.one("kueue-deployment").inputs["spec"]["template"]
    (container,) = template["spec"]["containers"]
    assert container["image"] == kueue.IMAGE
    required = template["spec"]["affinity"]["nodeAffinity"]
    (term,) = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {
            "key": "node.kubernetes.io/instance-type",
            "operator": "NotIn",
            "values": ["p5.48xlarge"],
        }
    ]


def test_another_configuration_starts_the_controller_again(cloud, monkeypatch):
    """It reads the configuration at its start."""

    def digest():
        (made,) = kueue.workloads(
            AddonTarget(region="r", kubernetes_version=DEFAULT, instance_types=[], taints=[])
        )
        return made.controller["spec"]["template"]["metadata"]["annotations"]

    before = digest()[CONFIGURATION_ANNOTATION]
    assert before == digest()[CONFIGURATION_ANNOTATION]
    monkeypatch.setattr(kueue, "PODS_READY_TIMEOUT", "1h")
    assert digest()[CONFIGURATION_ANNOTATION] != before


def test_the_queue_is_made_when_the_controller_runs_and_that_when_its_objects_exist(cloud):
    """Its webhooks review the objects of the queue."""
    deployment = cloud.one("kueue-deployment")
    needed = {made.name for made in cloud.registered if made.urn in deployment.dependencies}
    workloads = "kueue-customresourcedefinition-workloads.kueue.x-k8s.io"
    assert {"nodes", workloads, "kueue-configmap-kueue-manager-config"} <= needed
    for kind in ("ResourceFlavor", "ClusterQueue", "LocalQueue"):
        (made,) = cloud.of_type(f"{KUEUE_TYPE}:{kind}")
        assert deployment.urn in made.dependencies


def test_the_namespace_comes_before_the_objects_in_it(cloud):
    space = cloud.one("kueue-namespace-kueue-system")
    assert space.type == "kubernetes:core/v1:Namespace"
    secret = cloud.one("kueue-secret-kueue-webhook-server-cert")
    assert space.urn in secret.dependencies


def test_services_do_not_wait_for_pods_that_come_later(cloud):
    services = cloud.of_type("kubernetes:core/v1:Service")
    assert len(services) == 2
    for each in services:
        assert each.inputs["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_it_is_installed_where_the_stack_asks_for_it():
    assert "kueue" not in plan_from(changed()).self_managed_addons
    planned = plan_from(changed(architecture__addons={"kueue": True}))
    assert planned.self_managed_addons["kueue"] == ("system", "p5")


def test_refuses_a_queue_for_nodes_without_accelerators():
    raw = p5(instance_type="m5.large", efa_enabled=False, purchase_option="on-demand")
    raw["architecture"]["addons"] = {"kueue": True}
    problem = refusals(raw)["architecture.addons.kueue"]
    assert "no node group has any" in problem.problem
