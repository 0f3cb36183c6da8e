"""KMS keys that a stack file names, and the objects that they encrypt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.eks.test_file_system_check import NEW as FSX
from tests.eks.test_file_system_check import file_system
from tests.support.account import judged, refused
from tests.support.eks import changed, cluster_facts
from trainyard.components.named.facts import KmsKeyFacts

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"

SECRETS = "architecture.secrets_key_arn"


def key(**changes):
    fields = {"state": "Enabled", "usage": "ENCRYPT_DECRYPT", "spec": "SYMMETRIC_DEFAULT"}
    return KmsKeyFacts(**(fields | changes))


@pytest.fixture
def with_key(facts):
    def _with(found, **changes):
        known = replace(facts, named={("kms-key", KEY): found}, **changes)
        return judged(changed(architecture__secrets_key_arn=KEY), known)

    return _with


@pytest.mark.parametrize("state", ["Enabled", "Updating"])
def test_a_key_that_encrypts_is_accepted(with_key, state):
    assert refused(with_key(key(state=state)), "KMS keys") == {}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "does not exist"),
        (key(state="Disabled"), "encrypts nothing"),
        (key(state="PendingDeletion"), "encrypts nothing"),
        (key(state="PendingImport"), "encrypts nothing"),
        (key(state="Unavailable"), "encrypts nothing"),
        (key(state="PendingReplicaDeletion"), "encrypts nothing"),
        (key(usage="SIGN_VERIFY", spec="ECC_NIST_P256"), "symmetric"),
        (key(spec="RSA_4096"), "symmetric"),
    ],
)
def test_a_key_that_encrypts_nothing_is_refused(with_key, found, said):
    assert said in refused(with_key(found), "KMS keys")[SECRETS].problem


def test_a_disabled_key_can_be_enabled(with_key):
    remedy = refused(with_key(key(state="Disabled")), "KMS keys")[SECRETS].remedy
    assert f"aws kms enable-key --key-id {KEY}" in remedy


def test_the_key_of_an_existing_cluster_is_a_warning(with_key):
    cluster = cluster_facts(secrets_key_arn=KEY)
    found = with_key(key(state="Disabled"), cluster=cluster)
    assert refused(found, "KMS keys") == {}
    assert any(SECRETS in warning for warning in found.warnings)


def test_another_key_than_that_of_the_cluster_is_refused(with_key):
    cluster = cluster_facts(secrets_key_arn=KEY.replace("1234abcd", "00000000"))
    found = with_key(key(state="Disabled"), cluster=cluster)
    assert list(refused(found, "KMS keys")) == [SECRETS]


@pytest.mark.parametrize(("stack", "refuses"), [("p5-cb", False), ("prod", True)])
def test_only_a_file_system_of_the_stack_may_have_the_key_already(facts, stack, refuses):
    """A file system of another stack is no reason to create one with a key that is disabled."""
    raw = changed(storage={"data": {**FSX, "kms_key_arn": KEY}})
    theirs = file_system(tags={"trainyard:cluster": stack})
    known = replace(
        facts,
        named={("kms-key", KEY): key(state="Disabled")},
        file_systems={theirs.file_system_id: theirs},
    )
    assert ("storage.data.kms_key_arn" in refused(judged(raw, known), "KMS keys")) == refuses
