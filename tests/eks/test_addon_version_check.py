"""Refusals of add-on versions that EKS does not offer list the versions that it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import STACK_FILE, cluster_facts
from tests.support.kubernetes import DEFAULT
from trainyard.components.account.reader import AccountReader
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.eks.facts import AddonOffer, ClusterFacts
from trainyard.components.eks.lookup import (
    DESCRIBE_ADDON_VERSIONS,
    addon_offer_readings,
    look_up_offer,
)
from trainyard.components.eks.version_check import addon_version_problems, addon_version_warnings

OFFERED = AddonOffer(
    versions=tuple(f"v1.{minor}.0-eksbuild.1" for minor in range(30, 18, -1)),
    default="v1.20.0-eksbuild.1",
)
PATH = "trainyard:cluster.architecture.addons.versions.vpc-cni"


@pytest.fixture
def problems(configure, facts):
    def judged(version, **changes):
        config = configure(architecture__addons={"versions": {"vpc-cni": version}})
        known = replace(facts, addon_offers={"vpc-cni": OFFERED}, **changes)
        return list(addon_version_problems(config, known, stack_file=STACK_FILE))

    return judged


def test_an_offered_version_is_fine(problems):
    assert problems("v1.19.0-eksbuild.1") == []


def test_another_is_refused_with_the_newest_and_the_default(problems):
    (problem,) = problems("v1.18.5-eksbuild.1")
    assert problem.path == PATH
    assert f"for Kubernetes {DEFAULT}" in problem.problem
    assert problem.allowed is not None
    assert problem.allowed.startswith("v1.30.0-eksbuild.1, v1.29.0-eksbuild.1")
    assert "v1.20.0-eksbuild.1 (the default)" in problem.allowed
    assert problem.allowed.endswith("and 3 older")
    assert f"pulumi config rm --stack p5-cb --path '{PATH}'" in problem.remedy


def test_what_the_caller_may_not_read_is_not_judged(problems):
    denied = (f"{DESCRIBE_ADDON_VERSIONS}: AccessDeniedException",)
    assert problems("v1.18.5-eksbuild.1", unreadable=denied) == []


@pytest.mark.parametrize(
    ("addons", "more"),
    [
        ({}, {"eks-pod-identity-agent"}),
        ({"fsx_csi_driver": True}, {"eks-pod-identity-agent", "aws-fsx-csi-driver"}),
        (
            {"versions": {"aws-ebs-csi-driver": "v1.2.3-eksbuild.4"}},
            {"eks-pod-identity-agent", "aws-ebs-csi-driver"},
        ),
    ],
    ids=["by-default", "enabled", "a-version-of-what-is-not-installed"],
)
def test_every_add_on_of_the_stack_is_looked_up_for_its_kubernetes_version(configure, addons, more):
    reader = Reader([{"addons": []}] * 5)
    for reading in addon_offer_readings(reader, configure(architecture__addons=addons)):
        reading()
    asked = {each["addonName"]: each["kubernetesVersion"] for each in reader.asked}
    assert asked == dict.fromkeys({"vpc-cni", "kube-proxy", "coredns", *more}, DEFAULT)


NEWER = "v1.36.0-eksbuild.99"
PINNED = EKS_VERSIONS[DEFAULT].kube_proxy


def test_a_pinned_version_that_is_gone_is_refused_with_the_default_to_set(configure, facts):
    """A build that EKS has withdrawn would end `up` when the cluster is there already."""
    offer = AddonOffer(versions=(NEWER,), default=NEWER)
    gone = replace(facts, addon_offers={"kube-proxy": offer})
    (problem,) = addon_version_problems(configure(), gone, stack_file=STACK_FILE)
    assert (problem.found, problem.allowed) == (PINNED, f"{NEWER} (the default)")
    assert "which the program pins" in problem.problem
    assert f"architecture.addons.versions.kube-proxy' {NEWER}" in problem.remedy
    assert "update trainyard" in problem.remedy


@pytest.mark.parametrize(
    ("addon", "fix"),
    [
        ("coredns", "architecture.kubernetes_version"),
        ("eks-pod-identity-agent", "architecture.addons.pod_identity_agent' false"),
    ],
)
def test_an_add_on_that_eks_does_not_offer_at_all_is_refused_with_a_way_without_it(
    configure, facts, addon, fix
):
    none = replace(facts, addon_offers={addon: AddonOffer(versions=(), default=None)})
    (problem,) = addon_version_problems(configure(), none, stack_file=STACK_FILE)
    assert problem.allowed == "none"
    assert fix in problem.remedy


def test_a_cluster_keeps_a_version_that_eks_no_longer_offers(configure, facts):
    """An update that changes nothing must work, and installs nothing."""
    offer = AddonOffer(versions=(NEWER,), default=NEWER)
    known = replace(facts, addon_offers={"kube-proxy": offer})
    has = replace(known, cluster=cluster_with(PINNED))
    assert list(addon_version_problems(configure(), has, stack_file=STACK_FILE)) == []
    (warning,) = addon_version_warnings(configure(), has)
    assert "the cluster keeps it" in warning
    assert NEWER in warning
    other = replace(known, cluster=cluster_with("v1.35.3"))
    assert len(list(addon_version_problems(configure(), other, stack_file=STACK_FILE))) == 1


def test_an_add_on_without_a_default_for_the_kubernetes_version_is_told(configure, facts):
    offer = AddonOffer(versions=(PINNED,), default=None)
    known = replace(facts, addon_offers={"kube-proxy": offer})
    assert list(addon_version_problems(configure(), known, stack_file=STACK_FILE)) == []
    (warning,) = addon_version_warnings(configure(), known)
    assert "no default version" in warning


def test_the_default_of_another_kubernetes_version_is_none():
    """EKS lists the Kubernetes versions that a build fits, each with its own default."""
    fits = [{"clusterVersion": "1.29", "defaultVersion": True}]
    pages = [{"addons": [{"addonVersions": [{"addonVersion": "v1", "compatibilities": fits}]}]}]
    assert look_up_offer(Reader(pages), "vpc-cni", DEFAULT).default is None


def test_every_page_is_read():
    reader = Reader(
        [
            {"addons": [described("v2.0.0-eksbuild.1")], "nextToken": "more"},
            {"addons": [described("v1.0.0-eksbuild.1", default=True)]},
        ]
    )
    assert look_up_offer(reader, "vpc-cni", DEFAULT) == AddonOffer(
        versions=("v2.0.0-eksbuild.1", "v1.0.0-eksbuild.1"), default="v1.0.0-eksbuild.1"
    )
    assert reader.asked[0] == {"addonName": "vpc-cni", "kubernetesVersion": DEFAULT}
    assert reader.asked[1]["nextToken"] == "more"


def cluster_with(kube_proxy: str) -> ClusterFacts:
    return cluster_facts(addon_versions={"kube-proxy": kube_proxy})


def described(version: str, *, default: bool = False) -> dict[str, Any]:
    fits = [{"clusterVersion": DEFAULT, "defaultVersion": default}]
    return {"addonVersions": [{"addonVersion": version, "compatibilities": fits}]}


class Reader(AccountReader):
    """Answers with the given pages."""

    def __init__(self, pages: list[dict[str, Any]]) -> None:
        super().__init__(region="us-west-2")
        self._pages = pages
        self.asked: list[dict[str, str]] = []

    @property
    def eks(self) -> Any:
        return self

    def describe_addon_versions(self) -> None:
        raise AssertionError("only `ask` calls")

    def ask(self, call: str, do: Any, **arguments: str) -> dict[str, Any]:
        assert (call, do) == (DESCRIBE_ADDON_VERSIONS, self.describe_addon_versions)
        self.asked.append(dict(arguments))
        return self._pages.pop(0)
