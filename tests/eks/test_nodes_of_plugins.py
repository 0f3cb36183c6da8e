"""Plugins and exporters of EFA run on the nodes that have EFA interfaces, and on no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.eks import changed
from tests.support.stack_files import plan_from
from trainyard.components.eks.addons.efa_device_plugin import EFA_DEVICE_PLUGIN
from trainyard.components.eks.addons.efa_exporter import EFA_EXPORTER
from trainyard.components.eks.addons.registry import addon_target
from trainyard.components.eks.plan import EksPlan

WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-0a000000-0000-4000-8000-000000000001"
ADDONS = (EFA_DEVICE_PLUGIN, EFA_EXPORTER)
MATCHES = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
}
"""https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators: a node
without the label matches `NotIn`."""


def plan(system: str = "m5.large", **groups: Mapping[str, Any]) -> EksPlan:
    """Return the plan of a stack with node groups, which send metrics to Prometheus."""
    raw = changed()
    place = {"availability_zone": "us-west-2b"}
    pool = {"purchase_option": "on-demand", "desired": 1, "maximum": 1, **place}
    raw["architecture"]["node_groups"] = {name: pool | each for name, each in groups.items()}
    raw["architecture"]["system_node_group"] = {"instance_type": system}
    raw["monitoring"] = {"node_metrics": "prometheus", "workspace_arn": WORKSPACE}
    raw["reservations"] = {}
    return plan_from(raw)


def groups_with_pods(found: EksPlan, addon: Any) -> set[str]:
    """Return the node groups on whose nodes the DaemonSet of an add-on runs."""
    (workload,) = addon.workloads(addon_target(found, addon))
    pod = workload.controller["spec"]["template"]["spec"]
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    return {
        group.name
        for group in found.node_groups
        if all(
            MATCHES[each["operator"]](group.node_selector.get(each["key"]), each["values"])
            for each in term["matchExpressions"]
        )
    }


WITH = {"instance_type": "g5.8xlarge", "efa_enabled": True}
WITHOUT = {"instance_type": "g5.8xlarge", "efa_enabled": False}
SELF_MANAGED = {"management": "self-managed"}


@pytest.mark.parametrize("addon", ADDONS, ids=lambda each: each.name)
@pytest.mark.parametrize(
    "stack",
    [
        {"fast": WITH, "slow": WITHOUT},
        {"fast": WITH | SELF_MANAGED, "slow": WITHOUT | SELF_MANAGED},
        {"fast": WITH, "slow": {"instance_type": "g6.8xlarge", "efa_enabled": False}},
        {"fast": WITH, "system": "g5.8xlarge"},
        {"fast": WITH, "system": "m5dn.24xlarge"},
        {"fast": WITH},
    ],
    ids=["one type", "self-managed", "two types", "system type", "other system type", "alone"],
)
def test_pods_run_on_nodes_with_efa_only(stack: dict[str, Any], addon: Any) -> None:
    assert groups_with_pods(plan(**stack), addon) == {"fast"}


def test_only_nodes_that_another_group_could_be_taken_for_have_a_label() -> None:
    """Others stay as they are, so that no update replaces them."""
    mixed = plan(fast=WITH, slow=WITHOUT, other={"instance_type": "g6.8xlarge"})
    labels = {group.name: group.labels for group in mixed.node_groups}
    assert labels["slow"] == {"vpc.amazonaws.com/efa.present": "false"}
    assert labels["fast"] == labels["other"] == {}


def test_a_stack_in_which_all_such_nodes_have_efa_keeps_the_types_of_the_chart() -> None:
    (workload,) = EFA_DEVICE_PLUGIN.workloads(addon_target(plan(fast=WITH), EFA_DEVICE_PLUGIN))
    assert "p5.48xlarge" in str(workload.controller["spec"]["template"]["spec"]["affinity"])
