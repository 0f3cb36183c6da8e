"""Refusals of add-on versions that EKS does not offer list the versions that it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.account.facts import AddonOffer
from components.account.lookup import AccountReader
from components.eks.addon_version_check import (
    CALL,
    addon_version_problems,
    look_up_addon_offers,
)
from tests.support.eks import STACK_FILE
from tests.support.kubernetes import DEFAULT

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
    denied = (f"{CALL}: AccessDeniedException",)
    assert problems("v1.18.5-eksbuild.1", unreadable=denied) == []


def test_pinned_versions_are_not_asked_for(configure):
    assert look_up_addon_offers(Reader([]), configure()) == {}


def test_every_page_is_read(configure):
    config = configure(architecture__addons={"versions": {"vpc-cni": "v1.2.3-eksbuild.4"}})
    reader = Reader(
        [
            {"addons": [described("v2.0.0-eksbuild.1")], "nextToken": "more"},
            {"addons": [described("v1.0.0-eksbuild.1", default=True)]},
        ]
    )
    assert look_up_addon_offers(reader, config) == {
        "vpc-cni": AddonOffer(
            versions=("v2.0.0-eksbuild.1", "v1.0.0-eksbuild.1"), default="v1.0.0-eksbuild.1"
        )
    }
    assert reader.asked[0] == {"addonName": "vpc-cni", "kubernetesVersion": DEFAULT}
    assert reader.asked[1]["nextToken"] == "more"


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
        assert (call, do) == (CALL, self.describe_addon_versions)
        self.asked.append(dict(arguments))
        return self._pages.pop(0)
