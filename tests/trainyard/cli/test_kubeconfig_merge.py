"""The cluster of a stack is added to a kubeconfig without loss of its content."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.recorded_stack import RecordedStack
from trainyard.commands.cluster.kubeconfig import default_path, merge

OWN = {
    "clusters": [{"name": "kubernetes", "cluster": {"server": "https://new"}}],
    "contexts": [{"name": "aws", "context": {"cluster": "kubernetes", "user": "aws"}}],
    "users": [{"name": "aws", "user": {"exec": {"command": "aws"}}}],
}
NAME = "p5-cb.us-west-2"


def names(kubeconfig: dict[str, Any], key: str) -> list[str]:
    return [each["name"] for each in kubeconfig[key]]


def test_a_new_kubeconfig_has_one_cluster() -> None:
    made = merge({}, OWN, name=NAME)
    assert (made["kind"], made["current-context"]) == ("Config", NAME)
    assert made["clusters"] == [{"name": NAME, "cluster": {"server": "https://new"}}]
    assert made["contexts"] == [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}]


def test_other_entries_and_settings_stay_and_an_old_entry_is_replaced() -> None:
    before = {
        "clusters": [
            {"name": "theirs", "cluster": {"server": "https://theirs"}},
            {"name": NAME, "cluster": {"server": "https://old"}},
        ],
        "users": [{"name": "theirs", "user": {"token": "theirs"}}],
        "preferences": {"colors": True},
        "current-context": "theirs",
    }
    made = merge(before, OWN, name=NAME)
    assert names(made, "clusters") == ["theirs", NAME]
    assert made["clusters"][1]["cluster"] == {"server": "https://new"}
    assert made["users"][0] == {"name": "theirs", "user": {"token": "theirs"}}
    assert made["preferences"] == {"colors": True}
    assert made["current-context"] == NAME


def test_the_default_is_that_of_kubectl() -> None:
    assert default_path({"KUBECONFIG": "/one:/two"}) == Path("/one")
    assert default_path({}) == Path("~/.kube/config").expanduser()


DEPLOYED = RecordedStack(found={"kubeconfig": json.dumps(OWN), "cluster_name": "p5-cb"})


def test_the_file_is_private_and_a_link_stays_a_link(trainyard, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "config"
    real.write_text("users: [{name: theirs, user: {}}]\n")
    link.symlink_to(real)
    result = trainyard("kubeconfig", "p5-cb", "--path", link, deployed=DEPLOYED)
    assert result.exit_code == 0, result.stderr
    assert link.is_symlink()
    assert names(yaml.safe_load(real.read_text()), "users") == ["theirs", NAME]
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["- a list\n", "clusters: no\n", "a: [\n"])
def test_what_is_no_kubeconfig_is_not_changed(trainyard, tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    result = trainyard("kubeconfig", "p5-cb", "--path", path, deployed=DEPLOYED)
    assert result.exit_code == 2
    assert "not changed" in result.stderr
    assert path.read_text() == content


def test_a_stack_without_kubernetes_has_none(trainyard) -> None:
    result = trainyard("kubeconfig", "pc-gpu")
    assert result.exit_code == 2
    assert "pc-gpu has no Kubernetes cluster" in result.stderr
