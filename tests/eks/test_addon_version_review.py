"""Incompatible add-on versions are refused without an account."""

from __future__ import annotations

import pytest

from tests.support.eks import changed, p5, refusals
from tests.support.kubernetes import DEFAULT, PREVIOUS, minor
from tests.support.stack_files import plan_from
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.eks.addon_review import addon_version_fault, upstream_version

KEY = "architecture.addons.versions"


def versions(**chosen):
    return changed(
        architecture__addons={"versions": {k.replace("_", "-"): v for k, v in chosen.items()}}
    )


@pytest.mark.parametrize(
    ("addon", "version", "fits"),
    [
        pytest.param("kube-proxy", f"v{DEFAULT}.0-eksbuild.1", True, id="same-minor"),
        pytest.param("kube-proxy", f"v{minor(1)}.0-eksbuild.2", False, id="newer-than-cluster"),
        pytest.param("kube-proxy", f"v{PREVIOUS}.6-eksbuild.2", False, id="left-by-an-upgrade"),
        pytest.param("coredns", "v1.13.2-eksbuild.4", True, id="coredns"),
        pytest.param("coredns", "v1.10.1-eksbuild.38", False, id="coredns-of-old-clusters"),
        pytest.param("vpc-cni", "v1.18.5-eksbuild.1", True, id="first-with-efa-only"),
        pytest.param("vpc-cni", "v1.18.4-eksbuild.1", False, id="before-efa-only"),
    ],
)
def test_a_version_that_cannot_fit_is_refused_at_its_key(addon, version, fits):
    problems = refusals(versions(**{addon: version}))
    assert [key for key in problems if key.startswith(KEY)] == ([] if fits else [f"{KEY}.{addon}"])
    if not fits:
        problem = problems[f"{KEY}.{addon}"]
        assert problem.found == version
        assert f"--addon-name {addon} --kubernetes-version {DEFAULT}" in problem.remedy


def test_an_older_vpc_cni_is_fine_where_no_interface_is_efa_only():
    raw = p5(interface_layout="efa")
    raw["architecture"]["addons"] = {"versions": {"vpc-cni": "v1.18.4-eksbuild.1"}}
    assert f"{KEY}.vpc-cni" not in refusals(raw)


def test_of_other_addons_nothing_is_certain():
    assert addon_version_fault("aws-ebs-csi-driver", "v0.1.0-eksbuild.1", DEFAULT) is None


@pytest.mark.parametrize("pins", EKS_VERSIONS.values(), ids=EKS_VERSIONS)
def test_every_pinned_version_fits_its_cluster(pins):
    for addon, version in pins.addon_versions().items():
        assert addon_version_fault(addon, version, pins.minor, efa_only=True) is None


def test_the_stack_files_version_is_installed_and_the_pins_of_the_others():
    """EKX-02, EKS-05."""
    chosen = plan_from(versions(coredns="v1.13.2-eksbuild.4")).addon_versions
    pins = EKS_VERSIONS[DEFAULT]
    assert (chosen.coredns, chosen.kube_proxy) == ("v1.13.2-eksbuild.4", pins.kube_proxy)
    assert chosen.vpc_cni == pins.vpc_cni


def test_the_version_of_what_is_installed_is_read_as_numbers():
    assert upstream_version("v1.9.3-eksbuild.29") < upstream_version("v1.10.0-eksbuild.1")
