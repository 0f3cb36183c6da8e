"""The kubeconfig of a cluster of the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sandbox.providers.eks.access import kubeconfig
from sandbox.providers.kubernetes.kubeconfig import Access, read_access

ENDPOINT = "https://127.0.0.1:6443"


def made() -> str:
    return yaml.safe_dump(
        kubeconfig(cluster="c", endpoint=ENDPOINT, certificate_authority_data="Q0E=")
    )


def test_it_carries_the_administrators_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "clusters" / "c" / "kubeconfig"
    left.parent.mkdir(parents=True)
    left.write_text(yaml.safe_dump({"users": [{"name": "a", "user": {"token": "t"}}]}))
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    assert read_access(made()) == Access(ENDPOINT, "Q0E=", "t")


def test_a_cluster_without_control_plane_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    with pytest.raises(LookupError, match="no control plane for the cluster c"):
        made()


def test_an_engine_outside_of_the_sandbox_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINYARD_SANDBOX", raising=False)
    with pytest.raises(LookupError, match="TRAINYARD_SANDBOX is not set"):
        made()
