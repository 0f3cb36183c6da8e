"""The AWS managed collector of a cluster: what it reads, and what the cluster must allow."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.eks.addons.test_registry import controllers
from tests.support.eks import PRIVATE, PUBLIC, changed, refusals
from tests.support.monitoring import CLOUDWATCH, PROMETHEUS, WORKSPACE_ARN
from tests.support.stack_files import plan_from
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS
from trainyard.components.eks.scraper_plan import MAXIMUM_SUBNETS, ScraperPlan

EVERYWHERE = ("node-exporter", "kube-state-metrics")
EXPORTERS = (*EVERYWHERE, "dcgm-exporter", "neuron-monitor", "efa-exporter")
EXPORTER_LABEL = "__meta_kubernetes_pod_label_app_kubernetes_io_component"


def sent(**changes: Any) -> dict[str, Any]:
    return changed(monitoring=PROMETHEUS, **changes)


def scraper_of(raw: dict[str, Any]) -> ScraperPlan:
    made = plan_from(raw).scraper
    assert made is not None
    return made


def test_exporters_and_collector_come_with_prometheus_alone() -> None:
    planned = plan_from(sent())
    assert set(EVERYWHERE) <= planned.self_managed_addons.keys()
    assert "amazon-cloudwatch-observability" not in {addon.name for addon in planned.addons}
    for raw in (changed(), changed(monitoring=CLOUDWATCH)):
        assert not set(EXPORTERS) & plan_from(raw).self_managed_addons.keys()
        assert plan_from(raw).scraper is None


def test_devices_are_measured_where_they_are() -> None:
    served = plan_from(sent()).self_managed_addons
    assert served["dcgm-exporter"] == served["efa-exporter"] == ("p5",)
    assert served["node-exporter"] == ("system", "p5")
    assert "neuron-monitor" not in served
    trainium = sent(
        architecture__node_groups__p5__instance_type="trn1.32xlarge",
        architecture__node_groups__p5__purchase_option="on-demand",
        architecture__node_groups__p5__subnet_id=PRIVATE[0],
    )
    served = plan_from(trainium).self_managed_addons
    assert served["neuron-monitor"] == ("p5",)
    assert "dcgm-exporter" not in served
    without = plan_from(sent(architecture__node_groups__p5__efa_enabled=False)).self_managed_addons
    assert "efa-exporter" not in without


def test_the_collector_writes_to_the_workspace_and_names_the_cluster() -> None:
    made = scraper_of(sent())
    assert made.workspace_arn == WORKSPACE_ARN
    configuration = yaml.safe_load(made.configuration)
    assert configuration["global"] == {
        "scrape_interval": "60s",
        "external_labels": {"cluster": "p5-cb"},
    }


def test_the_collector_is_in_the_subnets_of_the_cluster() -> None:
    assert scraper_of(sent()).subnets == (*PRIVATE, *PUBLIC)
    many = [f"subnet-{number:017x}" for number in range(6)]
    assert len(scraper_of(sent(network__private_subnet_ids=many)).subnets) == MAXIMUM_SUBNETS


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_collector_finds_the_pods_of_every_exporter(name: str) -> None:
    (job,) = yaml.safe_load(scraper_of(sent()).configuration)["scrape_configs"]
    kept = {
        rule["source_labels"][0]: rule["regex"]
        for rule in job["relabel_configs"]
        if rule.get("action") == "keep"
    }
    (controller,) = controllers(SELF_MANAGED_ADDONS[name])
    template = controller["spec"]["template"]
    labels = template["metadata"]["labels"]
    assert labels["app.kubernetes.io/component"] == kept[EXPORTER_LABEL]
    assert labels["app.kubernetes.io/name"]
    ports = [port for each in template["spec"]["containers"] for port in each.get("ports", ())]
    assert kept["__meta_kubernetes_pod_container_port_name"] in {port["name"] for port in ports}
    assert (
        controller["metadata"]["namespace"]
        in job["kubernetes_sd_configs"][0]["namespaces"]["names"]
    )


def test_nothing_else_is_read() -> None:
    labelled = {
        name
        for name, addon in SELF_MANAGED_ADDONS.items()
        for controller in controllers(addon)
        if controller["spec"]["template"]["metadata"]["labels"].get("app.kubernetes.io/component")
        == "exporter"
    }
    assert labelled == set(EXPORTERS)


@pytest.mark.parametrize(
    ("key", "value"),
    [("endpoint.private_access", False), ("authentication_mode", "CONFIG_MAP")],
)
def test_a_cluster_that_the_collector_cannot_read_is_refused(key: str, value: object) -> None:
    path = f"architecture__{key.replace('.', '__')}"
    changes = {path: value, "architecture__node_authorization": "aws-auth"}
    found = refusals(sent(**changes))
    assert f"architecture.{key}" in found
    assert f"architecture.{key}" not in refusals(changed(**changes))
