"""Kubernetes objects that would be applied and never work, and what controllers own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import changed, plan_from, refusals
from tests.support.printed_fixes import problems_of, unsolved
from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.load import load_stack_config
from trainyard.components.eks.manifest_review import namespace_problems

LUSTRE = {"kind": "fsx-lustre", "deployment_type": "SCRATCH_2"}
WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-0a000000-0000-4000-8000-000000000001"
PROMETHEUS = {"node_metrics": "prometheus", "workspace_arn": WORKSPACE}
KUEUE = {"architecture__addons": {"kueue": True}}
GROUP = "architecture.node_groups.p5"


def lustre(**entry: Any) -> dict[str, Any]:
    return changed(storage={"data": {**LUSTRE, **entry}})


@pytest.mark.parametrize(
    ("namespace", "addons", "refused"),
    [
        ("default", {}, False),
        ("kube-system", {}, False),
        ("training", {}, True),
        ("kueue-system", {}, True),
        ("kueue-system", {"kueue": True}, False),
        ("amazon-cloudwatch", {"cloudwatch_observability": True}, False),
    ],
)
def test_a_claim_needs_a_namespace_that_somebody_makes(
    namespace: str, addons: dict[str, bool], *, refused: bool
) -> None:
    raw = lustre(claim_namespace=namespace)
    raw["architecture"]["addons"] = addons
    config, plan = load_stack_config(raw, stack_file="Pulumi.p5-cb.yaml"), plan_from(raw)
    assert isinstance(config, EksStackConfig)
    found = namespace_problems(config, plan.file_systems, stack_file="Pulumi.p5-cb.yaml")
    paths = [each.path.removeprefix("trainyard:cluster.") for each in found]
    assert paths == ["storage.data.claim_namespace"] * refused


def test_a_cluster_that_exists_can_have_namespaces_of_its_own() -> None:
    """Without the account it is not known, and must not stop `run` or `verify`."""
    plan = plan_from(lustre(claim_namespace="training"))
    assert any("training, a namespace that nobody makes" in each for each in plan.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        # The example of https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html
        (["noresvport"], "an option of NFS"),
        (["rsize=1048576", "hard", "timeo=600"], "an option of NFS"),
        (["tls"], "an option of EFS"),
        (["nouuid"], "an option of a local file system"),
        (["flcok"], "Lustre has not"),
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html
        (["noatime", "flock", "_netdev"], ""),
        (["ro", "localflock", "user_xattr", "retry=3"], ""),
    ],
)
def test_claims_have_the_mount_options_of_lustre(options: list[str], said: str) -> None:
    raw = lustre(mount_options=options)
    found = refusals(raw)
    assert list(found) == (["storage.data.mount_options"] if said else [])
    if said:
        assert said in found["storage.data.mount_options"].problem
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []


def test_right_options_beside_wrong_ones_are_kept() -> None:
    raw = lustre(mount_options=["noresvport", "flock", "nolock"])
    (problem,) = problems_of(raw, "Pulumi.p5-cb.yaml")
    last, first = problem.remedy.split(" and ")
    assert "mount_options[2]" in last
    assert "mount_options[0]" in first


def test_two_collectors_of_one_device_are_refused() -> None:
    raw = changed(monitoring=PROMETHEUS, architecture__addons={"cloudwatch_observability": True})
    found = refusals(raw)
    assert list(found) == ["architecture.addons.cloudwatch_observability"]
    assert "NVIDIA GPUs" in found["architecture.addons.cloudwatch_observability"].problem
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []
    assert refusals(changed(monitoring=PROMETHEUS)) == {}


def test_a_queue_without_a_quota_starts_no_job() -> None:
    raw = changed(**KUEUE, architecture__node_groups__p5__desired=0)
    assert list(refusals(raw)) == [f"{GROUP}.desired"]
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []
    assert refusals(changed(**KUEUE)) == {}
    assert refusals(changed(architecture__node_groups__p5__desired=0)) == {}


@pytest.mark.parametrize(
    ("label", "owner"),
    [
        # https://kubernetes.io/docs/reference/labels-annotations-taints/
        ("kubernetes.io/hostname", "the kubelet"),
        ("topology.kubernetes.io/zone", "the cloud provider"),
        ("node.kubernetes.io/instance-type", "the cloud provider"),
        # https://karpenter.sh/docs/concepts/scheduling/#well-known-labels
        ("karpenter.sh/nodepool", "Karpenter"),
        ("karpenter.k8s.aws/instance-gpu-count", "Karpenter"),
        ("eks.amazonaws.com/nodegroup", "EKS"),
        ("topology.k8s.aws/network-node-layer-1", "the cloud provider"),
        ("karpenter.sh/controller", None),
        ("node.kubernetes.io/role", None),
        ("k8s.amazonaws.com/accelerator", None),
        ("example.com/team", None),
    ],
)
def test_labels_of_controllers_are_refused(label: str, owner: str | None) -> None:
    raw = changed(architecture__node_groups__p5__labels={label: "x"})
    found = refusals(raw)
    assert list(found) == [f"{GROUP}.labels"] * (owner is not None)
    if owner:
        assert f"{owner}" in found[f"{GROUP}.labels"].problem
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []


@pytest.mark.parametrize(
    ("tag", "refused"),
    [
        ("kubernetes.io/cluster/p5-cb", True),
        ("kubernetes.io/role/elb", True),
        ("eks:cluster-name", True),
        ("karpenter.sh/nodepool", True),
        ("aws:team", True),
        ("karpenter.sh/discovery", False),
        ("k8s.io/cluster-autoscaler/enabled", False),
        ("cost.center", False),
    ],
)
def test_tags_of_controllers_are_refused(tag: str, *, refused: bool) -> None:
    raw = changed(tags={tag: "x"})
    assert list(refusals(raw)) == ["tags"] * refused
    assert list(unsolved(raw, "Pulumi.p5-cb.yaml")) == []
