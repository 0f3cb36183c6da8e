"""Secrets in every form in which users and programs write them, and texts that are none.

Each secret is made up, in the form that its source documents. The forms of tokens are those of the
rules of gitleaks, whose ids are the ids here; its own tests make samples in the same way
(`utils.GenerateSampleSecrets`):
https://github.com/gitleaks/gitleaks/tree/b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b/cmd/generate/config/rules
"""

from __future__ import annotations

import base64
import json
import random
import string
from pathlib import Path
from typing import Any, NamedTuple

ALNUM, LOWER = string.ascii_letters + string.digits, string.ascii_lowercase + string.digits
HEX, DIGITS, UPPER = "0123456789abcdef", string.digits, string.ascii_uppercase + "234567"
WORDY = ALNUM + "-_"
CHOSEN = "hunter2-Planted"
"""A password that somebody has chosen: it has no form."""
COMMIT = "66337fc41a05facf3d7bb732c80b4366c56b83c5"


class Planted(NamedTuple):
    """A text with a secret."""

    id: str
    secret: str
    """The part that must not be seen."""
    text: str


def made(id: str, prefix: str, length: int, alphabet: str = ALNUM) -> str:  # noqa: A002
    """Return a token of a form; the same in every run."""
    return prefix + "".join(random.Random(id).choices(alphabet, k=length))


def _token(id: str, prefix: str, length: int, alphabet: str = ALNUM) -> Planted:  # noqa: A002
    token = made(id, prefix, length, alphabet)
    return Planted(id, token[len(prefix) :][:20] or token, f"see {token} for it")


WANDB = made("wandb-legacy", "", 40, HEX)
_BASIC = base64.b64encode(f"me:{CHOSEN}".encode()).decode()
_KEY_BEGIN, _KEY_END = (f"-----{each} RSA PRIVATE KEY-----" for each in ("BEGIN", "END"))
TOKENS = (
    _token("aws-access-token", "AKIA", 16, UPPER),
    _token("aws-access-token of a role", "ASIA", 16, UPPER),
    _token("aws-amazon-bedrock-api-key-long-lived", "ABSK", 120),
    _token("aws session token", "IQoJb3JpZ2luX2VjE", 200),
    _token("eks token", "k8s-aws-v1.", 300, WORDY),
    _token("github-pat", "ghp_", 36),
    _token("github-oauth", "gho_", 36),
    _token("github-app-token", "ghs_", 36),
    _token("github-fine-grained-pat", "github_pat_", 82, ALNUM + "_"),
    _token("gitlab-pat", "glpat-", 20, WORDY),
    _token("gitlab-deploy-token", "gldt-", 20, WORDY),
    _token("gitlab-runner-authentication-token", "glrt-", 20, WORDY),
    _token("gitlab-ptt", "glptt-", 40, HEX),
    _token("huggingface-access-token", "hf_", 34, string.ascii_letters),
    _token("huggingface-organization-api-token", "api_org_", 34, string.ascii_letters),
    _token("nvidia ngc", "nvapi-", 64, WORDY),
    _token("docker hub", "dckr_pat_", 27, WORDY),
    _token("slack-bot-token", "xoxb-123456789012-1234567890123-", 24),
    _token("slack-app-token", "xapp-1-A0123456789-1234567890123-", 64, HEX),
    _token("slack-webhook-url", "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/", 24),
    _token("discord webhook", "https://discord.com/api/webhooks/123456789012345678/", 68, WORDY),
    _token("gcp-api-key", "AIza", 35, WORDY),
    _token("google oauth access token", "ya29.", 120, WORDY),
    _token("stripe-access-token", "sk_live_", 24),
    _token("stripe restricted", "rk_test_", 24),
    _token("npm-access-token", "npm_", 36),
    _token("pypi-upload-token", "pypi-AgEIcHlwaS5vcmc", 80, WORDY),
    _token("rubygems-api-token", "rubygems_", 48, HEX),
    _token("pulumi-api-token", "pul-", 40, HEX),
    _token("openai-api-key", "sk-proj-", 100, WORDY),
    _token("anthropic-api-key", "sk-ant-api03-", 93, WORDY),
    _token("perplexity-api-key", "pplx-", 48),
    _token("wandb", "wandb_v1_", 77, ALNUM + "_"),
    _token("databricks-api-token", "dapi", 32, HEX),
    _token("digitalocean-pat", "dop_v1_", 64, HEX),
    _token("vault-service-token", "hvs.", 95, WORDY),
    _token("sendgrid-api-token", "SG.", 66, LOWER),
    _token("grafana-cloud-api-token", "glc_", 60),
    _token("age-secret-key", "AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    _token("atlassian-api-token", "ATATT3", 186, WORDY),
    _token("telegram-bot-api-token", "1234567890:A", 34, WORDY.replace("-", "")),
    _token("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.", 43, WORDY.replace("-", "")),
    Planted("private-key", "MIIEow0123", f"{_KEY_BEGIN}\nMIIEow0123\n{_KEY_END}\n"),
)
"""Forms that are secrets in any place."""
ARGUMENTS = (
    Planted("flag", CHOSEN, f"train.py --password {CHOSEN} --lr 1"),
    Planted("flag with =", CHOSEN, f"train.py --db-pass={CHOSEN}"),
    Planted("flag, one dash", CHOSEN, f"program -token {CHOSEN}"),
    Planted("flag of a legacy key", WANDB, f"train.py --wandb-key {WANDB}"),
    Planted("wandb login", WANDB, f"wandb login --relogin {WANDB}"),
    Planted("docker login", CHOSEN, f"docker login -u me -p {CHOSEN} ghcr.io"),
    Planted("helm registry login", CHOSEN, f"helm registry login -u me -p {CHOSEN} ghcr.io"),
    Planted("sshpass", CHOSEN, f"sshpass -p {CHOSEN} ssh me@host"),
    Planted("mysql", CHOSEN, f"mysql -u root -p{CHOSEN} db"),
    Planted("redis-cli", CHOSEN, f"redis-cli -h cache -a {CHOSEN} ping"),
    Planted("curl-auth-user", CHOSEN, f"curl -u me:{CHOSEN} https://example.com"),
    Planted(
        "curl-auth-header", CHOSEN, f'curl -H "Authorization: Bearer {CHOSEN}" https://a.example'
    ),
    Planted("a list of JSON", CHOSEN, f'["train.py", "--password", "{CHOSEN}"]'),
    Planted("a list of Python", CHOSEN, f"['train.py', '--password', '{CHOSEN}']"),
    Planted("export", CHOSEN, f"export DB_PASS='{CHOSEN}'"),
    Planted("docker run -e", CHOSEN, f"docker run -e MY_SECRET={CHOSEN} image"),
)
"""Command lines."""
HEADERS = (
    Planted("bearer", CHOSEN, f"Authorization: Bearer {CHOSEN}"),
    Planted("basic", _BASIC, f"authorization: Basic {_BASIC}"),
    Planted("github header", CHOSEN, f"Authorization: token {CHOSEN}"),
    Planted("vault header", CHOSEN, f"X-Vault-Token: {CHOSEN}"),
    Planted("gitlab header", CHOSEN, f'curl --header "PRIVATE-TOKEN: {CHOSEN}" https://a.example'),
    Planted("api key header", CHOSEN, f"x-api-key: {CHOSEN}"),
    Planted("cookie", CHOSEN, f"Set-Cookie: session={CHOSEN}; Path=/"),
)
ADDRESSES = (
    Planted("user and password", "hunter2", "postgres://me:hunter2@db.example.com/x"),
    Planted("password with @", "qxqx", "postgres://me:pa@qxqx@db.example.com/x"),
    Planted("password with /", "un/ter", "amqp://me:h/un/ter2@mq.example.com/x"),
    Planted("token as the user", CHOSEN, f"https://{CHOSEN}@github.com/me/code.git"),
    Planted("query", CHOSEN, f"https://a.example/x?access_token={CHOSEN}&page=1"),
    Planted("presigned", "0123abcd", "https://b.s3.amazonaws.com/k?X-Amz-Signature=0123abcd"),
    Planted("azure account key", CHOSEN, f"AccountName=a;AccountKey={CHOSEN}==;EndpointSuffix=b"),
    Planted("azure sas", CHOSEN, f"https://a.blob.core.windows.net/c?sv=2&sig={CHOSEN}"),
)
NAMES = [
    "DB_PASSWORD",
    "DB_PASS",
    "MYSQL_PWD",
    "REGISTRY_TOKEN",
    "MY_SECRET",
    "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "ENCRYPTION_KEY",
    "credentials",
    "passwords",
    "passphrase",
    "authorization",
    "clientSecret",
    "dbPass",
    "apiKey",
]
"""Names of values that somebody has chosen."""
LINES = (
    *(Planted(f"{name}=", CHOSEN, f"{name}={CHOSEN}") for name in NAMES),
    *(Planted(f"{name}:", CHOSEN, f"first: 1\n{name}: {CHOSEN}\nlast: 2") for name in NAMES),
    *(Planted(f"{name} in JSON", CHOSEN, f'{{"{name}": "{CHOSEN}", "x": 1}}') for name in NAMES),
    Planted("several words", CHOSEN, f"password: correct {CHOSEN} battery"),
    Planted("a quote in it", CHOSEN, f'{{"password": "a\\"{CHOSEN}"}}'),
    Planted("a comma in it", CHOSEN, f"DB_PASS=a,{CHOSEN}"),
    Planted("a block of YAML", CHOSEN, f"secret: |\n  first\n  {CHOSEN}\nnext: 1\n"),
    Planted("a list of YAML", CHOSEN, f"passwords:\n  - first\n  - {CHOSEN}\nnext: 1\n"),
    Planted("a pair of YAML", CHOSEN, f"- name: DB_PASSWORD\n  value: {CHOSEN}\n"),
    Planted("a turned pair", CHOSEN, f"- value: {CHOSEN}\n  name: DB_PASSWORD\n"),
    Planted("a pair in a log", CHOSEN, f'got {{"name":"DB_PASSWORD","value":"{CHOSEN}"}} here'),
    Planted(
        "a pair in JSON in JSON",
        CHOSEN,
        f'got "{{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"{CHOSEN}\\"}}" here',
    ),
    Planted("netrc", CHOSEN, f"machine api.wandb.ai login user password {CHOSEN}"),
    Planted("docker config", _BASIC, f'{{"auths": {{"ghcr.io": {{"auth": "{_BASIC}"}}}}}}'),
    Planted("wandb legacy", WANDB, f"WANDB_KEY={WANDB}"),
)
TEXTS = (*TOKENS, *ARGUMENTS, *HEADERS, *ADDRESSES, *LINES)
"""All texts."""

_DOCKER = json.dumps({"auths": {"ghcr.io": {"auth": _BASIC}}})
DOCUMENTS: dict[str, Any] = {
    "pair of Kubernetes": {"env": [{"name": "DB_PASSWORD", "value": CHOSEN}]},
    "pair of CloudFormation": [{"ParameterKey": "DbPassword", "ParameterValue": CHOSEN}],
    "pair of tags": [{"Key": "password", "Value": CHOSEN}],
    "default of a parameter": {"Parameters": {"DbPassword": {"Type": "String", "Default": CHOSEN}}},
    "list": {"password": [CHOSEN]},
    "value": {"password": {"value": CHOSEN}},
    "deeper": {"credentials": {"user": {"first": [CHOSEN]}}},
    "arguments": {"x": ["train.py", "--password", CHOSEN]},
    "docker login": {"x": ["docker", "login", "-u", "me", "-p", CHOSEN]},
    "a shell": {"x": ["sh", "-c", f"train.py --password {CHOSEN}"]},
    "JSON in a text": {"x": json.dumps({"env": [{"name": "MY_SECRET", "value": CHOSEN}]})},
    "user data": {"x": base64.b64encode(f"#!/bin/sh\nexport DB_PASS={CHOSEN}\n".encode()).decode()},
    "docker config": {"auths": {"ghcr.io": {"auth": _BASIC}}},
    "docker config as text": {".dockerconfigjson": base64.b64encode(_DOCKER.encode()).decode()},
    **{f"key {name}": {name: CHOSEN} for name in NAMES},
}
"""Documents with `CHOSEN`, also in Base64."""
ENCODED = tuple(
    base64.b64encode(f"{before}{CHOSEN}".encode()).decode().rstrip("=")[6:-4]
    for before in ("", "x", "xx")
)
"""Parts of Base64 with `CHOSEN` in it, at each of the three offsets."""

SHOWN_TEXTS = (
    COMMIT,
    f"commit: {COMMIT}",
    f"revision={COMMIT}",
    f"ghcr.io/me/train:{COMMIT}",
    f"nvcr.io/nvidia/pytorch@sha256:{'0123abcd' * 8}",
    "i-0123456789abcdef0 in subnet-0123456789abcdef0 is a p5.48xlarge in us-west-2a",
    "cr-0123456789abcdef0",
    "arn:aws:iam::123456789012:role/train",
    "secret: arn:aws:secretsmanager:us-west-2:123456789012:secret:wandb-AbCdEf",
    "secrets_key_arn: arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "s3://scripts/ImageNet2012/checkpoints/run1/v2",
    "https://example.com:8443/a@b",
    "ssh://git@github.com/me/code.git",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn",
    "ExpiredToken: The security token included in the request is expired",
    "UnauthorizedOperation: You are not authorized to perform it. Encoded authorization: see below",
    "NoCredentials: Unable to locate credentials: run aws configure",
    'MountVolume.SetUp failed for volume "x" : secret "wandb" not found',
    "0/3 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: true}",
    "We currently do not have sufficient p5.48xlarge capacity in zones with support for 'gp3'",
    "token: /var/run/secrets/eks.amazonaws.com/serviceaccount/token",
    "max_tokens: 4096",
    "--max-tokens 4096 --tokenizer llama",
    "password: $DB_PASS",
    "--password ${DB_PASS}",
    "WANDB_API_KEY=${{ secrets.WANDB_API_KEY }}",
    "give it with --token or with --password-stdin",
    "key: node.kubernetes.io/instance-type",
    "PASS: all 16 ranks",
    "passed=16 failed=0 bypass=1 compass=north",
    "docker run -u 1000:1000 -p 80:80 image",
    "kubectl -n kube-system get pods",
    "eth0: Basic networking, authentication mode API",
)
"""What a reader needs, and is shown as it is."""
SHOWN_DOCUMENTS: tuple[Any, ...] = (
    {"imagePullSecrets": [{"name": "regcred"}]},
    {"env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]},
    {"volumes": [{"secret": {"secretName": "hf", "defaultMode": 420}}]},
    {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}}]},
    {"automountServiceAccountToken": False, "hasSecret": True, "password": ""},
    {"secrets": [{"name": "HF_TOKEN", "valueFrom": "arn:aws:ssm:us-west-2:1:parameter/hf"}]},
    {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
    {"Tags": [{"Key": "trainyard:cluster", "Value": "p5-cb"}]},
    {"resources": {"limits": {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}}},
    {"image": f"nvcr.io/nvidia/pytorch@sha256:{'0123abcd' * 8}", "commit": COMMIT},
    {"max_tokens": 4096, "pass": 3, "tokens": 12},
    {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:f"},
    {"reason": "FailedScheduling", "message": "0/3 nodes are available: 3 Insufficient memory."},
)

PLANTED_OPTIONS = (
    *("--env", f"WANDB_API_KEY={WANDB}", "--env", f"MY_SECRET={CHOSEN}"),
    *("--env", f"HARMLESS={CHOSEN}"),
)
"""Options of `run` with secrets, of which one has neither a name nor a form."""
PLANTED_ARGUMENTS = ("--wandb-key", WANDB, "--password", CHOSEN, CHOSEN)
"""Arguments of a program."""


def leaks_in(directory: Path) -> list[str]:
    """Return the files below a directory with what the options and arguments plant."""
    secrets = (CHOSEN, WANDB, *ENCODED)
    files = [each for each in directory.rglob("*") if each.is_file()]
    assert files
    texts = {each: each.read_text(encoding="utf-8") for each in files}
    return [str(each) for each, text in texts.items() if any(s in text for s in secrets)]


def modes_in(directory: Path) -> set[int]:
    """Return the permissions of a directory and of everything in it, without the owner's."""
    return {each.stat().st_mode & 0o077 for each in (directory, *directory.rglob("*"))}
