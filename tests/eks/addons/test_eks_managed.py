"""Add-ons that EKS installs: order, versions, settings and roles."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import changed, config
from tests.support.kubernetes import DEFAULT
from tests.support.stack_files import plan_from
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.eks.addons.eks_managed import fsx_csi_driver_wanted
from trainyard.components.eks.plan import AddonPlan, PodIdentityPlan

EVERYTHING = {
    "ebs_csi_driver": True,
    "fsx_csi_driver": True,
    "node_monitoring_agent": True,
}
PINS = EKS_VERSIONS[DEFAULT]


def planned(**addons: Any) -> dict[str, AddonPlan]:
    return {addon.name: addon for addon in plan_from(changed(architecture__addons=addons)).addons}


def test_pods_can_have_roles_of_their_own_unless_told_otherwise() -> None:
    assert list(planned()) == ["eks-pod-identity-agent"]
    assert list(planned(pod_identity_agent=False)) == []


def test_the_agent_comes_before_the_drivers_that_get_their_roles_from_it() -> None:
    """Only this list declares the order."""
    assert list(planned(**EVERYTHING)) == [
        "eks-pod-identity-agent",
        "aws-ebs-csi-driver",
        "aws-fsx-csi-driver",
        "eks-node-monitoring-agent",
    ]


def test_every_addon_has_the_pinned_version() -> None:
    versions = {name: addon.version for name, addon in planned(**EVERYTHING).items()}
    assert versions == {name: PINS.addon_versions()[name] for name in versions}


def test_a_version_of_the_stack_file_takes_precedence() -> None:
    chosen = planned(ebs_csi_driver=True, versions={"aws-ebs-csi-driver": "v1.63.0-eksbuild.1"})
    assert chosen["aws-ebs-csi-driver"].version == "v1.63.0-eksbuild.1"
    assert chosen["eks-pod-identity-agent"].version == PINS.pod_identity_agent


@pytest.mark.parametrize(("agent", "through"), [(True, "pod-identity"), (False, "oidc")])
def test_drivers_get_roles_of_their_own_with_one_aws_policy(agent: bool, through: Any) -> None:
    """EKS-15, DF-13: permissions of a pod no longer apply to every pod of the node."""
    found = planned(pod_identity_agent=agent, **EVERYTHING)
    assert found["aws-ebs-csi-driver"].identity == PodIdentityPlan(
        namespace="kube-system",
        service_account="ebs-csi-controller-sa",
        policy="AmazonEBSCSIDriverPolicyV2",
        through=through,
    )
    assert found["aws-fsx-csi-driver"].identity == PodIdentityPlan(
        namespace="kube-system",
        service_account="fsx-csi-controller-sa",
        policy="AmazonFSxFullAccess",
        through=through,
    )
    assert found["eks-node-monitoring-agent"].identity is None


def test_the_logs_of_container_insights_have_a_retention_time() -> None:
    found = planned(cloudwatch_observability=True, log_retention_days=7)
    addon = found["amazon-cloudwatch-observability"]
    assert {group.name for group in addon.log_groups} == {
        f"/aws/containerinsights/p5-cb/{part}"
        for part in ("application", "dataplane", "host", "performance")
    }
    assert {group.retention_days for group in addon.log_groups} == {7}
    assert addon.identity is not None
    assert addon.identity.namespace == "amazon-cloudwatch"
    assert found["eks-pod-identity-agent"].log_groups == ()


@pytest.mark.parametrize("kind", ["fsx-lustre", "existing-fsx-lustre"])
def test_a_lustre_file_system_brings_its_driver(kind: str) -> None:
    system = {"kind": kind, "deployment_type": "SCRATCH_2"}
    if kind.startswith("existing"):
        system = {"kind": kind, "file_system_id": "fs-0123456789abcdef0"}
    assert fsx_csi_driver_wanted(config(changed(storage={"scratch": system})))
    assert not fsx_csi_driver_wanted(config(changed()))


def test_controllers_stay_off_the_nodes_of_the_work() -> None:
    configuration = planned(ebs_csi_driver=True)["aws-ebs-csi-driver"].configuration
    assert configuration is not None
    affinity = configuration["controller"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["p5.48xlarge"]}
    ]


def test_faults_of_gpus_are_seen_on_tainted_nodes_too() -> None:
    """The agent's DCGM component for NVIDIA GPUs has no tolerations by default."""
    configuration = planned(node_monitoring_agent=True)["eks-node-monitoring-agent"].configuration
    assert configuration == {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
