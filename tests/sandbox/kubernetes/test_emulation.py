"""Clusters of an older Kubernetes version, and their way to the next."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sandbox.kubernetes.api import ApiUnreachableError
from sandbox.kubernetes.emulation import (
    EMULATED_VERSIONS,
    KUBERNETES_VERSION,
    UnsupportedVersionError,
    check_version,
    described_version,
    emulated_version,
)
from tests.support.processes import processes_below

REPOSITORY = Path(__file__).parents[3]
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {}}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.kubernetes
def test_an_older_version_is_served_and_upgraded_with_everything_in_it(make_control_planes):
    """The address, the keys, the objects and the number of processes stay."""
    planes = make_control_planes()
    plane = planes.create("p5-cb", "1.34")
    api = plane.administrator()
    assert api.get("/version")["emulationMinor"] == "34"
    api.post(CONFIG_MAPS, CONFIG_MAP)
    running = len(processes_below(plane.directory))

    planes.upgrade("p5-cb", "1.35")
    assert planes.get("p5-cb") is plane
    assert (plane.directory / "version").read_text() == "1.35"
    assert api.get("/version")["emulationMinor"] == "35"
    assert api.get(f"{CONFIG_MAPS}/kept")["metadata"]["name"] == "kept"
    assert len(processes_below(plane.directory)) == running

    planes.delete("p5-cb")
    assert processes_below(plane.directory) == []
    with pytest.raises(ApiUnreachableError):
        api.get("/version")


@pytest.mark.kubernetes
def test_what_does_not_run_is_not_upgraded(make_control_planes):
    with pytest.raises(ValueError, match="no control plane that serves"):
        make_control_planes().upgrade("p5-cb", "1.35")


@pytest.mark.parametrize("version", ["1.36", "1.31", "1.35.3"])
def test_refuses_what_it_cannot_emulate_and_says_what_to_change(version):
    with pytest.raises(UnsupportedVersionError, match=rf"asks for {version}; set architecture"):
        check_version("p5-cb", version)


@pytest.mark.parametrize("version", ["1.34", "1.35", KUBERNETES_VERSION, None])
def test_accepts_its_own_version_and_older_ones(version):
    check_version("p5-cb", version)


def test_only_an_older_version_is_emulated_and_said_to_be():
    assert emulated_version("1.34") == "1.34"
    assert emulated_version("1.35") is None
    assert emulated_version(None) is None
    assert described_version("1.34") == f"Kubernetes 1.34, emulated by {KUBERNETES_VERSION}"
    assert described_version("1.35") == f"Kubernetes {KUBERNETES_VERSION}"


@pytest.mark.kubernetes
def test_the_programs_emulate_what_is_said_of_them(kubernetes_programs):
    """The list of `--help` is the programs' own."""
    command = [*kubernetes_programs["kube-apiserver"], "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    oldest = re.search(r"Options are: kube=(\S+)\.\.1\.35", shown)
    assert oldest is not None
    assert oldest.group(1) == EMULATED_VERSIONS[0]


def test_the_version_is_the_one_that_the_programs_are_built_from():
    go_mod = (REPOSITORY / "sandbox/kubernetes/control_plane/go.mod").read_text()
    built = re.search(r"k8s\.io/kubernetes v(\S+)", go_mod)
    assert built is not None
    assert built.group(1) == KUBERNETES_VERSION
