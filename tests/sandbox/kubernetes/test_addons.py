"""The objects that EKS's add-ons install in a cluster."""

from __future__ import annotations

import pytest

from trainyard.sandbox.kubernetes.addons import AddonObjects, addon_objects
from trainyard.sandbox.kubernetes.api import ApiError

EBS = "aws-ebs-csi-driver"
SYSTEM_ONLY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}


def by_name(addon, settings=None):
    return {f"{o['kind']}/{o['metadata']['name']}": o for o in addon_objects(addon, settings or {})}


def pod(found):
    return found["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    ("addon", "names"),
    [
        ("eks-pod-identity-agent", {"DaemonSet/eks-pod-identity-agent"}),
        (
            EBS,
            {
                "ServiceAccount/ebs-csi-controller-sa",
                "ServiceAccount/ebs-csi-node-sa",
                "CSIDriver/ebs.csi.aws.com",
                "Deployment/ebs-csi-controller",
                "DaemonSet/ebs-csi-node",
            },
        ),
        (
            "aws-fsx-csi-driver",
            {
                "ServiceAccount/fsx-csi-controller-sa",
                "ServiceAccount/fsx-csi-node-sa",
                "CSIDriver/fsx.csi.aws.com",
                "Deployment/fsx-csi-controller",
                "DaemonSet/fsx-csi-node",
            },
        ),
        (
            "eks-node-monitoring-agent",
            {
                "ServiceAccount/eks-node-monitoring-agent",
                "DaemonSet/eks-node-monitoring-agent",
                "DaemonSet/dcgm-server",
            },
        ),
        ("coredns", set()),
    ],
)
def test_an_addon_installs_what_its_chart_does(addon, names):
    assert set(by_name(addon)) == names


def test_daemon_sets_tolerate_every_taint_and_controllers_do_not():
    found = by_name(EBS)
    assert pod(found["DaemonSet/ebs-csi-node"])["tolerations"] == [{"operator": "Exists"}]
    keys = [t.get("key") for t in pod(found["Deployment/ebs-csi-controller"])["tolerations"]]
    assert keys == ["CriticalAddonsOnly", None]


def test_settings_reach_the_controllers_pods():
    settings = {"controller": {"affinity": SYSTEM_ONLY, "replicaCount": 1}}
    controller = by_name(EBS, settings)["Deployment/ebs-csi-controller"]
    assert pod(controller)["affinity"] == SYSTEM_ONLY
    assert controller["spec"]["replicas"] == 1


def test_the_monitor_of_gpus_tolerates_only_what_it_is_told():
    name, addon = "DaemonSet/dcgm-server", "eks-node-monitoring-agent"
    assert pod(by_name(addon)[name])["tolerations"] == []
    everything = {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
    assert pod(by_name(addon, everything)[name])["tolerations"] == [{"operator": "Exists"}]


@pytest.mark.kubernetes
def test_a_driver_comes_is_unhealthy_without_nodes_changes_and_goes(make_control_planes):
    planes = make_control_planes()
    api = planes.create("c").administrator()
    path = "/apis/apps/v1/namespaces/kube-system/deployments/ebs-csi-controller"
    objects = AddonObjects(planes)
    assert "404" in (objects.trouble("c", EBS) or "")
    objects.install("c", EBS, {})
    assert api.get(path)["spec"]["replicas"] == 2
    assert api.get("/apis/storage.k8s.io/v1/csidrivers/ebs.csi.aws.com")["spec"]["attachRequired"]
    assert "0 of 2 pods of ebs-csi-controller" in (objects.trouble("c", EBS) or "")
    objects.install("c", EBS, {"controller": {"replicaCount": 0}})
    assert objects.trouble("c", EBS) is None
    objects.remove("c", EBS)
    objects.remove("c", EBS)  # objects that are already deleted are no error
    with pytest.raises(ApiError, match="404"):
        api.get(path)
    with pytest.raises(ApiError, match="no control plane"):
        objects.install("nobody", EBS, {})
    api.close()
