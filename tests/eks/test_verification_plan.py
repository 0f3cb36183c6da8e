"""The taint of nodes that have not passed `verify`."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.eks.test_nodeadm_plan import CLUSTER, node_config
from tests.support.eks import changed, group, p5, refusals
from tests.support.stack_files import plan_from
from trainyard.components.eks.label_plan import UNVERIFIED
from trainyard.components.eks.node_group_plan import (
    render_managed_user_data,
    render_self_managed_user_data,
)

OWN = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def required(**group_changes: Any) -> dict[str, Any]:
    return {**p5(**group_changes), "verification": {"required": True}}


def test_the_kubelet_of_a_managed_node_registers_with_it():
    """A taint in the configuration of the group would come late, and again after each change."""
    found = group(required(management="managed", taints=[OWN]))
    config = node_config(render_managed_user_data(found))["spec"]["kubelet"]["config"]
    assert config["registerWithTaints"] == [UNVERIFIED.model_dump()]
    assert config["maxPods"] == found.maximum_pods
    assert [taint.key for taint in found.taints] == [OWN["key"]]


def test_the_kubelet_of_a_self_managed_node_registers_with_all_taints():
    """The flag replaces the list of the configuration file."""
    text = render_self_managed_user_data(group(required(taints=[OWN])), **CLUSTER)
    assert node_config(text)["spec"]["kubelet"]["flags"] == [
        "--register-with-taints=nvidia.com/gpu=true:NoSchedule,trainyard.dev/unverified=true:NoSchedule"
    ]


def test_device_plugins_tolerate_it():
    assert plan_from(required()).device_plugin_tolerations == (UNVERIFIED,)


def test_only_nodes_with_accelerators_have_it():
    found = plan_from(required()).node_groups
    assert {each.name: each.startup_taints for each in found} == {
        "system": (),
        "p5": (UNVERIFIED,),
    }
    assert [each.startup_taints for each in plan_from(changed()).node_groups] == [(), ()]


@pytest.mark.parametrize(
    ("raw", "key", "says"),
    [
        pytest.param(
            required(instance_type="g5g.16xlarge", efa_enabled=False, purchase_option="on-demand"),
            "architecture.node_groups.p5.instance_type",
            "is an ARM type, for which `verify` has no image",
            id="arm",
        ),
        pytest.param(
            changed(
                architecture__addons={"efa_device_plugin": False}, verification={"required": True}
            ),
            "architecture.node_groups.p5.efa_enabled",
            "the test of `verify` asks for EFA",
            id="no-efa-plugin",
        ),
        pytest.param(
            p5(taints=[{**OWN, "key": UNVERIFIED.key}]),
            "architecture.node_groups.p5.taints[0].key",
            "is the taint that `verify` removes",
            id="own-taint",
        ),
    ],
)
def test_nodes_that_would_stay_closed_are_refused(raw: dict[str, Any], key: str, says: str):
    assert says in refusals(yaml.safe_load(yaml.safe_dump(raw)))[key].problem
