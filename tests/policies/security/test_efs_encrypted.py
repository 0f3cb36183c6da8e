"""Encryption of EFS at rest."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.resources.types import EFS_FILE_SYSTEM
from trainyard.policies.rules.security.efs_encrypted import POLICY


def home(**props):
    return Declared(EFS_FILE_SYSTEM, "home", props, protect=True)


VIOLATING = ((home(),), (home(encrypted=False),))
CLEAN = ((home(encrypted=True),), (home(encrypted=True, kmsKeyId="arn:aws:kms:x"),))


@pytest.mark.parametrize("program", VIOLATING, ids=["left-out", "off"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "set encrypted to true" in message


@pytest.mark.parametrize("program", CLEAN, ids=["aws-key", "own-key"])
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_what_is_not_known_yet_is_said():
    assert "home.encrypted" in check(POLICY, home(encrypted=UNKNOWN)).undecided[0]
