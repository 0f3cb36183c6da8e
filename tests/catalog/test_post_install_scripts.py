"""The scripts that nodes run: with pinned versions, and only on supported systems."""

import re
from typing import get_args

import pytest

from trainyard.components.catalog.post_install_scripts import (
    POST_INSTALL_SCRIPTS,
    script_supports,
)
from trainyard.components.config.parallelcluster import OperatingSystem, Script

SYSTEMS = get_args(OperatingSystem)


@pytest.mark.parametrize("name", POST_INSTALL_SCRIPTS)
def test_what_scripts_install_has_exact_versions(name):
    """DF-06, PCx-07, TRN-22: the templates took scripts from `main`, and these any version."""
    for variable, pin in POST_INSTALL_SCRIPTS[name].pins.items():
        exact = r"[0-9a-f]{40}" if variable.endswith("_COMMIT") else r"v?\d+(\.\d+)+(-\w+)?"
        assert re.fullmatch(exact, pin), variable


def test_a_stack_file_may_name_each_of_them():
    """PCx-07, TRN-22: Docker, Pyxis with Enroot, NCCL and Neuron."""
    assert POST_INSTALL_SCRIPTS.keys() == {"docker", "pyxis", "nccl", "neuron"}
    assert [Script(script=name).script for name in POST_INSTALL_SCRIPTS] == [*POST_INSTALL_SCRIPTS]


@pytest.mark.parametrize("address", ["s3://scripts/neuron.sh", "https://example.com/a.sh"])
def test_a_script_of_the_users_own_runs_everywhere(address):
    assert all(script_supports(address, system) for system in SYSTEMS)


def test_scripts_say_where_they_run():
    """Docker's and Neuron's scripts fail on the other systems, and the node never joins."""
    refused = {
        (name, system)
        for name in POST_INSTALL_SCRIPTS
        for system in SYSTEMS
        if not script_supports(name, system)
    }
    others = {"rhel8", "rhel9", "rocky8", "rocky9"}
    assert refused == {(name, system) for name in ("docker", "neuron") for system in others}
