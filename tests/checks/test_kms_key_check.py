"""KMS keys that a stack file names, and the objects that they encrypt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.account.facts import ClusterFacts
from components.account.named_facts import (
    KmsKeyFacts,
)
from tests.support.account import judged, refused
from tests.support.eks import changed

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
    cluster = ClusterFacts(
        name="p5-cb",
        status="ACTIVE",
        kubernetes_version="1.36",
        authentication_mode="API_AND_CONFIG_MAP",
        secrets_key_arn=KEY,
    )
    found = with_key(key(state="Disabled"), cluster=cluster)
    assert refused(found, "KMS keys") == {}
    assert any(SECRETS in warning for warning in found.warnings)
