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


def test_a_cluster_without_control_plane_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProviderError, match="the sandbox has no cluster c"):
        access(tmp_path, monkeypatch).token()
