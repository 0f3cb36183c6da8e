"""Scanning of images."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import ECR_REGISTRY_SCANNING, ECR_REPOSITORY
from trainyard.policies.rules.security.ecr_scanning import POLICY


def repository(**props):
    return Declared(ECR_REPOSITORY, "images", props)


SCANNED = repository(imageScanningConfiguration={"scanOnPush": True})
NOT_SCANNED = repository(imageScanningConfiguration={"scanOnPush": False})
REGISTRY = Declared(ECR_REGISTRY_SCANNING, "registry", {"scanType": "ENHANCED"})

VIOLATING = ((repository(),), (NOT_SCANNED,))
CLEAN = ((SCANNED,), (repository(), REGISTRY))


@pytest.mark.parametrize("program", VIOLATING, ids=["silence", "off"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert message.startswith("images: its images are not scanned")


@pytest.mark.parametrize("program", CLEAN, ids=["on-push", "whole-registry"])
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


@pytest.mark.parametrize("scanning", [UNKNOWN, {"scanOnPush": UNKNOWN}], ids=["all", "value"])
def test_a_setting_of_another_resource_is_not_judged_before_it_is_known(scanning):
    """A setting that no resource determines is AWS's default, which is off."""
    name, other = "imageScanningConfiguration", Declared(ECR_REPOSITORY, "other", SCANNED.props)
    given = Declared(ECR_REPOSITORY, "images", {name: scanning}, {name: ["other"]})
    assert check(POLICY, other, given).messages == []
