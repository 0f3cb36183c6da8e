"""Texts that look like secrets are hidden, and similar texts are shown."""

from __future__ import annotations

import base64

import pytest

from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.plain_text import legible, printable
from trainyard.components.secret_documents import hidden
from trainyard.components.secret_text import (
    HIDDEN,
    is_private_key,
    is_secret_value,
    looks_secret,
    without_secrets,
)

_BEGIN, _END = ("-----" + each + " OPENSSH PRIVATE KEY-----" for each in ("BEGIN", "END"))
PRIVATE_KEY = f"{_BEGIN}\nQyNTUxOQAAACBcbZAUCvKYqN1QAowpjpevAXBR2M2el5OtEAw\n{_END}\n"
ACCESS_KEY = "wJalrXUtnFEMI" + "/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
NGC = base64.b64encode(b"a" * 26 + b":12345678-1234-1234-1234-123456789012").decode()


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(PRIVATE_KEY, id="private-key"),
        pytest.param(PRIVATE_KEY.partition("\n-----END")[0], id="private-key-cut"),
        pytest.param(base64.b64encode(PRIVATE_KEY.encode()).decode(), id="private-key-encoded"),
        pytest.param("AKIA" + "IOSFODNN7EXAMPLE", id="access-key-id"),
        pytest.param(ACCESS_KEY, id="secret-access-key"),
        pytest.param("IQoJ" + "b3JpZ2luX2VjE" * 8, id="session-token"),
        pytest.param("ghp_" + "a1B2" * 9, id="github"),
        pytest.param("github_pat_" + "a1B2" * 9, id="github-fine-grained"),
        pytest.param("hf_" + "aBcD" * 9, id="hugging-face"),
        pytest.param("nvapi-" + "aB_d" * 9, id="ngc"),
        pytest.param(NGC, id="ngc-older"),
        pytest.param(
            "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9" + ".c2lnbmF0dXJl", id="json-web-token"
        ),
    ],
)
def test_a_secret_is_hidden_in_text_in_lists_and_in_mappings(secret: str):
    assert looks_secret(secret)
    for text in (secret, f"before {secret} after", f'"{secret}"'):
        assert secret[5:30] not in without_secrets(text)
    assert secret[5:30] not in str(hidden({"key": [secret], "x": {"y": secret}}))
    assert secret[5:30] not in legible(f"error: {secret}")
    assert secret[5:30] not in printable(secret)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:hunter2@example.com/a", f"https://{HIDDEN}@example.com/a"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=ab12&x=1", "&x=1"),
        ("password=hunter2 now", f"password={HIDDEN} now"),
        ('{"WANDB_API_KEY": "hunter2", "a": 1}', f'"WANDB_API_KEY": "{HIDDEN}", "a": 1'),
    ],
)
def test_the_rest_of_a_text_with_a_secret_is_shown(text: str, shown: str):
    found = without_secrets(text)
    assert shown in found
    assert "hunter2" not in found
    assert "ab12" not in found


def test_the_value_of_a_key_with_the_name_of_a_secret_is_hidden():
    found = hidden({"hf_token": "short", "team": "vision", "password": ""})
    assert found == {"hf_token": HIDDEN, "team": "vision", "password": ""}


@pytest.mark.parametrize(
    "text",
    [
        "66337fc41a05facf3d7bb732c80b4366c56b83c5",
        "s3://scripts/ImageNet2012/checkpoints/run1/v2",
        "trainingdata/ImageNet2012/checkpointsrun",
        "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn",
        "secrets_key_arn: arn:aws:kms:us-west-2:123456789012:key/1234abcd",
        "provider_service_token: arn:aws:lambda:us-west-2:123456789012:function:f",
        "https://example.com:8443/a@b",
        "cr-0123456789abcdef0",
    ],
)
def test_commits_paths_arns_and_public_keys_are_shown(text: str):
    assert without_secrets(text) == text


def test_a_private_key_is_told_from_other_secrets():
    assert is_private_key(PRIVATE_KEY)
    assert not is_private_key("hf_" + "aBcD" * 9)


def test_a_problem_keeps_no_secret():
    problem = Problem(
        path="trainyard:cluster.x",
        problem=f"is not {ACCESS_KEY}",
        found=[PRIVATE_KEY],
        allowed=ACCESS_KEY,
        remedy=f"set it to {ACCESS_KEY}",
    )
    said = f"{problem!r} {ConfigError([problem], stack_file='Pulumi.a.yaml')}"
    assert ACCESS_KEY not in said
    assert "QyNTUxOQ" not in said


def test_a_problem_at_a_key_with_the_name_of_a_secret_hides_the_value():
    problem = Problem(path='trainyard:cluster.tags["api-key"]', problem="", found="x1", remedy="")
    assert problem.found == HIDDEN


@pytest.mark.parametrize("name", ["HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "github_token"])
def test_names_of_secrets_are_known(name: str) -> None:
    assert is_secret_value(name, "x1y2")


@pytest.mark.parametrize(
    "place",
    [
        "HF_TOKEN=secret/hf/token",
        "'HF_TOKEN=~/.secrets/hf'",
        "HF_TOKEN=/home/ubuntu/.secrets/hf",
        "HF_TOKEN=arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf",
    ],
)
def test_the_place_of_a_secret_is_no_secret(place: str) -> None:
    text = f"use --secret {place} instead"
    assert without_secrets(text) == text
    assert HIDDEN in without_secrets("--secret hunter2-x9")


@pytest.mark.parametrize("name", ["LR", "NCCL_DEBUG", "TOKENIZERS_PARALLELISM", "MAX_TOKENS"])
def test_other_names_are_no_names_of_secrets(name: str) -> None:
    assert not is_secret_value(name, "4096")
