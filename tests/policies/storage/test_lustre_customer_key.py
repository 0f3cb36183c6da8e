"""Customer managed keys for Lustre file systems (F12)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import cluster_with, file_system, shared_storage
from trainyard.policies.rules.storage.lustre_customer_key import POLICY

CONFIG = {"customer_keys": True}
KEY = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
SCRATCH = file_system(deploymentType="SCRATCH_2", perUnitStorageThroughput=None)
VIOLATING = ((file_system(),), (cluster_with(shared_storage()),))
CLEAN = ((file_system(kmsKeyId=KEY),), (SCRATCH,))


@pytest.mark.parametrize("program", VIOLATING, ids=["resource", "parallelcluster"])
def test_fails_where_the_team_wants_keys_of_its_own(program):
    (message,) = check(POLICY, *program, config=CONFIG).messages
    assert message.endswith(
        "it is encrypted with the AWS managed key of FSx; set kms_key_id to a key of your own"
    )


@pytest.mark.parametrize("program", VIOLATING, ids=["resource", "parallelcluster"])
@pytest.mark.parametrize("config", [None, {}, {"customer_keys": False}])
def test_says_nothing_where_nobody_asked(program, config):
    assert check(POLICY, *program, config=config).messages == []


@pytest.mark.parametrize(
    "system", [CLEAN[0][0], SCRATCH, file_system(kmsKeyId=UNKNOWN)], ids=["own", "scratch", "later"]
)
def test_passes(system):
    assert check(POLICY, system, config=CONFIG).messages == []
