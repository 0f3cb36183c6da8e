"""The VPC CNI of a cluster with efa-only interfaces (A17)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import interface
from tests.support.policy_programs_eks import (
    addon,
    efa_cluster,
    private_cluster,
    template,
)
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.policies.rules.efa.efa_only_vpc_cni_version import POLICY

VIOLATING = (efa_cluster(addon("v1.18.3-eksbuild.1")),)
CLEAN = (efa_cluster(addon("v1.18.5-eksbuild.1")), efa_cluster())


@pytest.mark.parametrize("version", ["v1.18.3-eksbuild.1", "v1.9.3", "v1.18.4-eksbuild.3"])
def test_fails(version):
    (message,) = check(POLICY, *efa_cluster(addon(version))).messages
    assert f"it is version {version}, and nodes of p5-nodes have efa-only" in message


@pytest.mark.parametrize("pins", EKS_VERSIONS.values(), ids=lambda pins: pins.minor)
def test_the_versions_that_we_pin_pass(pins):
    assert check(POLICY, *efa_cluster(addon(pins.vpc_cni))).messages == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(efa_cluster(addon("v1.18.5-eksbuild.1")), id="first"),
        pytest.param(efa_cluster(addon("v1.20.1-eksbuild.3")), id="newer"),
        pytest.param(efa_cluster(addon("v1.10.1", "coredns")), id="another-add-on"),
        pytest.param(efa_cluster(addon("latest")), id="no-version"),
        pytest.param((addon("v1.9.3"), template()), id="template-that-no-node-group-uses"),
        pytest.param(
            (*efa_cluster(addon("v1.9.3")), private_cluster("other")),
            id="which-cluster-is-not-told",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_interfaces_of_type_efa_need_no_such_version():
    kept = [each for each in efa_cluster(addon("v1.9.3")) if each.name != "p5-template"]
    assert check(POLICY, *kept, template(networkInterfaces=[interface(0, 0, "efa")])).messages == []


def test_a_version_that_is_not_known_yet_is_said():
    made = addon(UNKNOWN)
    unknown = Declared(made.type, made.name, made.props, {"addonVersion": ["training"]})
    found = check(POLICY, *efa_cluster(unknown))
    assert found.messages == []
    assert "vpc-cni.addonVersion" in found.undecided[0]
