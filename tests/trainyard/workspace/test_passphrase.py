"""Stacks that need a passphrase."""

from __future__ import annotations

import pytest

from trainyard.workspace.backend import PASSPHRASE, PASSPHRASE_FILE, lacks_passphrase

FILE, CLOUD = "file://~", "https://api.pulumi.com"
SALT = {"encryptionsalt": "v1:…"}
KEY = {"secretsprovider": "awskms://alias/pulumi?region=us-west-2"}


@pytest.mark.parametrize(
    ("stack_file", "backend", "lacks"),
    [
        (SALT, FILE, True),
        (SALT, CLOUD, True),
        ({}, FILE, True),
        ({}, CLOUD, False),
        (KEY, "s3://state", False),
        ({"secretsprovider": "passphrase"}, CLOUD, True),
    ],
)
def test_a_salt_or_a_backend_without_a_key_needs_one(
    stack_file: dict[str, str], backend: str, *, lacks: bool
) -> None:
    assert lacks_passphrase(stack_file, backend=backend, environment={}) is lacks


@pytest.mark.parametrize(
    ("environment", "lacks"),
    [
        ({PASSPHRASE: "given"}, False),
        ({PASSPHRASE: ""}, False),
        ({PASSPHRASE_FILE: "/run/secrets/pulumi"}, False),
        ({PASSPHRASE_FILE: ""}, True),
    ],
)
def test_a_variable_gives_it_also_when_it_is_empty(
    environment: dict[str, str], *, lacks: bool
) -> None:
    assert lacks_passphrase(SALT, backend=FILE, environment=environment) is lacks
