"""The authenticator as a program; its own tests are next to its source."""

from __future__ import annotations

import json
import subprocess

import pytest

pytestmark = pytest.mark.kubernetes


def run(programs, *arguments, content=""):
    return subprocess.run(
        [*programs["authenticator"], *arguments],
        input=content,
        capture_output=True,
        text=True,
        check=False,
    )


def test_parse_prints_what_the_real_mapper_finds_in_aws_auth(kubernetes_programs):
    """PR-25: it decides the effect of every edit of the ConfigMap."""
    data = {
        "mapRoles": "- rolearn: arn:aws:iam::123456789012:role/a\n  username: u\n  groups: [g]\n",
        "mapUsers": "- userarn: arn:aws:iam::123456789012:user/ada\n  username: ada\n",
        "mapAccounts": '- "123456789012"\n',
    }
    answer = run(kubernetes_programs, "--parse", content=json.dumps(data))
    assert json.loads(answer.stdout) == {
        "roles": [
            {"rolearn": "arn:aws:iam::123456789012:role/a", "username": "u", "groups": ["g"]}
        ],
        "users": [
            {"userarn": "arn:aws:iam::123456789012:user/ada", "username": "ada", "groups": None}
        ],
        "accounts": ["123456789012"],
    }


def test_parse_says_what_was_refused_and_keeps_the_rest(kubernetes_programs):
    data = {"mapRoles": "- username: nobody\n", "mapAccounts": '["1"]'}
    parsed = json.loads(run(kubernetes_programs, "--parse", content=json.dumps(data)).stdout)
    assert parsed["roles"] == []
    assert parsed["accounts"] == ["1"]
    assert "rolearn" in parsed["error"]


def test_missing_options_are_all_named(kubernetes_programs):
    answer = run(kubernetes_programs, "--cluster=p5-cb")
    assert answer.returncode == 2
    missing = (
        "the variable TRAINYARD_SANDBOX_ACCESS_KEY, --account-endpoint, --kubeconfig, --listen"
    )
    assert f"missing: {missing}, --tls-cert-file, --tls-private-key-file" in answer.stderr
