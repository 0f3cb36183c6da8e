"""Add-ons that contradict one another, and taints that exclude all pods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import changed, p5, refusals
from tests.support.stack_files import plan_from

DRA = {"efa_device_plugin": False, "efa_dra_driver": True}


def addons(**switches: Any) -> dict[str, Any]:
    return changed(architecture__addons=switches)


def test_both_device_plugin_and_dra_driver_for_efa_are_refused() -> None:
    """Rule A21: they would assign one interface to two pods."""
    found = refusals(addons(efa_dra_driver=True))
    problem = found["architecture.addons.efa_device_plugin"]
    assert "both device plugin and DRA driver for EFA" in problem.problem
    assert problem.remedy.endswith("trainyard:cluster.architecture.addons.efa_device_plugin' false")


def test_the_dra_driver_alone_is_accepted_from_1_34_on() -> None:
    """Rule A21."""
    assert refusals(addons(**DRA)) == {}


def test_the_dra_driver_needs_kubernetes_1_34() -> None:
    """Rule A21."""
    raw = changed(architecture__addons=DRA, architecture__kubernetes_version="1.33")
    problem = refusals(raw)["architecture.addons.efa_dra_driver"]
    assert (problem.found, problem.allowed) == ("Kubernetes 1.33", "Kubernetes 1.34 or later")


def test_who_must_hand_out_efa_is_told_with_the_taints_to_tolerate() -> None:
    taints = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    raw = p5(taints=taints)
    raw["architecture"]["addons"] = DRA
    assert any(
        "EFA of p5 is handed out by the DRA driver that you install; it must tolerate the taints "
        "nvidia.com/gpu" in note
        for note in plan_from(raw).notes
    )


def test_efa_that_nobody_hands_out_is_told() -> None:
    notes = plan_from(addons(efa_device_plugin=False)).notes
    assert any("pods get no EFA device and communicate over TCP" in note for note in notes)


def test_nothing_is_told_where_no_group_has_efa() -> None:
    raw = p5(efa_enabled=False)
    raw["architecture"]["addons"] = {"efa_device_plugin": False}
    assert not any("EFA" in note for note in plan_from(raw).notes)


def test_a_type_that_the_plugin_does_not_know_is_refused_only_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pain 11."""
    known = "trainyard.components.eks.addons.efa_device_plugin.EFA_PLUGIN_INSTANCE_TYPES"
    monkeypatch.setattr(known, ("p4d.24xlarge",))
    assert list(refusals(changed())) == ["architecture.node_groups.p5.instance_type"]
    assert refusals(addons(efa_device_plugin=False)) == {}


def test_repair_without_the_agent_that_finds_faults_is_refused() -> None:
    raw = p5(auto_repair=True, management="managed")
    found = refusals(raw)["architecture.addons.node_monitoring_agent"]
    assert "p5 has `auto_repair`" in found.problem
    raw["architecture"]["addons"] = {"node_monitoring_agent": True}
    assert "architecture.addons.node_monitoring_agent" not in refusals(raw)


@pytest.mark.parametrize("driver", ["ebs", "fsx"])
def test_a_startup_taint_needs_the_driver_that_takes_it_away(driver: str) -> None:
    taint = {"key": f"{driver}.csi.aws.com/agent-not-ready", "effect": "NoExecute"}
    raw = p5(taints=[taint])
    problem = refusals(raw)["architecture.node_groups.p5.taints[0].key"]
    assert "nothing would ever run on the nodes" in problem.problem
    assert f"{driver}_csi_driver" in problem.remedy
    raw["architecture"]["addons"] = {f"{driver}_csi_driver": True}
    assert refusals(raw) == {}


@pytest.mark.parametrize(
    "key", ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"]
)
def test_taints_of_kubernetes_itself_are_refused(key: str) -> None:
    found = refusals(p5(taints=[{"key": key, "effect": "NoSchedule"}]))
    assert "Kubernetes itself" in found["architecture.node_groups.p5.taints[0].key"].problem


@pytest.mark.parametrize("key", ["nvidia.com/gpu", "team", "example.com/training"])
def test_every_other_taint_is_tolerated_by_what_must_run_on_the_node(key: str) -> None:
    taint = {"key": key, "value": "true", "effect": "NoExecute"}
    raw = p5(taints=[taint])
    raw["architecture"]["addons"] = {
        "ebs_csi_driver": True,
        "fsx_csi_driver": True,
        "node_monitoring_agent": True,
    }
    assert refusals(raw) == {}
    assert [t.key for t in plan_from(raw).device_plugin_tolerations] == [key]
