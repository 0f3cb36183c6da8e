"""Clusters of an older Kubernetes version, and their upgrade to the next."""

from __future__ import annotations

import re
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support.kubernetes import DEFAULT, PREVIOUS, minor
from tests.support.processes import processes_below, spawn, until
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.engine.pins import KUBERNETES_VERSION
from trainyard.sandbox.kubernetes.api import ApiUnreachableError
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.emulation import (
    EMULATED_VERSIONS,
    OWN_VERSION,
    UnsupportedVersionError,
    check_version,
    described_version,
    emulated_version,
)

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {}}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def programs_of(directory: Path) -> set[str]:
    """Return the names of the programs that run for a control plane.

    A process that has just been forked still has the command line of its parent, so that their
    number can be too large for a moment.
    """
    found = (re.search(r"/control-plane (\S+)", each) for each in processes_below(directory))
    return {each[1] for each in found if each}


@pytest.mark.kubernetes
def test_an_older_version_is_served_and_upgraded_with_everything_in_it(make_control_planes):
    """The address, the keys, the objects and the programs do not change."""
    planes = make_control_planes()
    plane = planes.create("p5-cb", PREVIOUS)
    api = plane.administrator()
    assert api.get("/version")["emulationMinor"] == PREVIOUS.removeprefix("1.")
    api.post(CONFIG_MAPS, CONFIG_MAP)
    before = programs_of(plane.directory)

    planes.upgrade("p5-cb", DEFAULT)
    assert planes.get("p5-cb") is plane
    assert (plane.directory / "version").read_text() == DEFAULT
    assert api.get("/version")["emulationMinor"] == DEFAULT.removeprefix("1.")
    assert api.get(f"{CONFIG_MAPS}/kept")["metadata"]["name"] == "kept"
    until(lambda: programs_of(plane.directory) == before, f"the programs {sorted(before)}")

    planes.delete("p5-cb")
    assert processes_below(plane.directory) == []
    with pytest.raises(ApiUnreachableError):
        api.get("/version")


@pytest.mark.kubernetes
def test_kwok_starts_again_only_after_an_upgrade(kubernetes_programs, tmp_path):
    """An upgrade fails if it finds that a program has ended."""
    started: list[str] = []
    left_alone: list[threading.Thread] = []

    def recording(argv, *, name, **options):
        started.append(name)
        if started.count("p5-cb-kube-apiserver") == 2 and not left_alone:
            left_alone.append(
                threading.Thread(target=planes.leave_alone, args=("p5-cb", ["plugin"]))
            )
            left_alone[0].start()
        return spawn(argv, name=name, **options)

    planes = ControlPlanes(tmp_path, kubernetes_programs, NO_ACCOUNT, recording)
    try:
        planes.create("p5-cb", PREVIOUS)
        planes.upgrade("p5-cb", DEFAULT)
        left_alone[0].join()
    finally:
        planes.stop_all()
    assert started[-2:] == ["p5-cb-kube-scheduler", "p5-cb-kwok"]


@pytest.mark.kubernetes
def test_what_does_not_run_is_not_upgraded(make_control_planes):
    with pytest.raises(ValueError, match="no control plane that serves"):
        make_control_planes().upgrade("p5-cb", DEFAULT)


@pytest.mark.parametrize("version", [minor(1), minor(-4), f"{DEFAULT}.99"])
def test_refuses_what_it_cannot_emulate_and_says_what_to_change(version):
    with pytest.raises(UnsupportedVersionError, match=rf"asks for {version}; set architecture"):
        check_version("p5-cb", version)


@pytest.mark.parametrize("version", [PREVIOUS, DEFAULT, KUBERNETES_VERSION, None])
def test_accepts_its_own_version_and_older_ones(version):
    check_version("p5-cb", version)


def test_only_an_older_version_is_emulated_and_said_to_be():
    assert emulated_version(PREVIOUS) == PREVIOUS
    assert emulated_version(DEFAULT) is None
    assert emulated_version(None) is None
    assert described_version(PREVIOUS) == f"Kubernetes {PREVIOUS}, emulated by {KUBERNETES_VERSION}"
    assert described_version(DEFAULT) == f"Kubernetes {KUBERNETES_VERSION}"


@pytest.mark.kubernetes
def test_the_programs_emulate_what_is_said_of_them(kubernetes_programs):
    """The list is from the `--help` of the programs."""
    command = [*kubernetes_programs["kube-apiserver"], "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    emulated = re.search(r"Options are: kube=(\S+)\.\.(\S+)\(", shown)
    assert emulated is not None
    assert emulated.groups() == (EMULATED_VERSIONS[0], OWN_VERSION)


def test_the_sandbox_runs_the_default_version_itself_and_emulates_the_other_pinned_ones():
    assert OWN_VERSION == DEFAULT
    assert {*EMULATED_VERSIONS, OWN_VERSION} >= set(EKS_VERSIONS)
