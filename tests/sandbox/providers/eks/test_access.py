"""The kubeconfig of a cluster of the sandbox, and its credential program."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from trainyard.sandbox.kubernetes.aws_program import write_aws_program
from trainyard.sandbox.providers._protocol.servicer import ProviderError
from trainyard.sandbox.providers.eks.cluster import kubeconfig
from trainyard.sandbox.providers.kubernetes.kubeconfig import Access, read_access

MADE = kubeconfig(
    cluster="c",
    endpoint="https://127.0.0.1:6443",
    region="us-west-2",
    certificate_authority_data="Q0E=",
)


def access(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Access:
    programs = write_aws_program(
        directory / "bin", clusters=directory / "clusters", region="us-west-2"
    )
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return read_access(json.dumps(MADE))


def test_the_sandboxs_aws_prints_the_administrators_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "clusters" / "c" / "pki" / "tokens.csv"
    tokens.parent.mkdir(parents=True)
    tokens.write_text('t,sandbox-administrator,1,"system:masters"\n')
    found = access(tmp_path, monkeypatch)
    assert (found.server, found.certificate_authority_data) == ("https://127.0.0.1:6443", "Q0E=")
    assert found.token() == "t"


def test_a_cluster_that_does_not_exist_has_a_token_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aws eks get-token` asks nobody; the API server does not answer, or refuses it."""
    assert access(tmp_path, monkeypatch).token()


def test_what_the_program_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = json.loads(json.dumps(MADE).replace("us-west-2", "eu-west-1"))
    access(tmp_path, monkeypatch)
    with pytest.raises(ProviderError, match="is in us-west-2, not in eu-west-1"):
        read_access(json.dumps(elsewhere)).token()
