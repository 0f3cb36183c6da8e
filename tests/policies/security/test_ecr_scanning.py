"""Scanning of images."""

from __future__ import annotations

import pytest

from policies.resources.types import ECR_REGISTRY_SCANNING, ECR_REPOSITORY
from policies.rules.security.ecr_scanning import POLICY
from tests.support.policy import Declared, check


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
