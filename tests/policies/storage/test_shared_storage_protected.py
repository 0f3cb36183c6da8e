"""File systems that a mistake cannot delete."""

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs import LUSTRE_NETWORK, lustre
from trainyard.policies.resources.types import EFS_FILE_SYSTEM, OPENZFS_FILE_SYSTEM, SECURITY_GROUP
from trainyard.policies.rules.storage.shared_storage_protected import POLICY

VIOLATING = ((lustre(protect=False), *LUSTRE_NETWORK),)
CLEAN = ((lustre(), *LUSTRE_NETWORK),)


@pytest.mark.parametrize(
    "system",
    [
        lustre(protect=False),
        Declared(EFS_FILE_SYSTEM, "home"),
        Declared(OPENZFS_FILE_SYSTEM, "home"),
    ],
)
def test_fails(system):
    (message,) = check(POLICY, system).messages
    assert message.startswith(f"{system.name}: the file system is not protected")
    assert message.endswith("set the resource option protect")


@pytest.mark.parametrize(
    "program",
    [
        lustre(),
        Declared(OPENZFS_FILE_SYSTEM, "home", protect=True),
        Declared(SECURITY_GROUP, "group"),
    ],
)
def test_passes(program):
    assert check(POLICY, program).messages == []
