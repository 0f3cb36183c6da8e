"""The scripts that nodes run: pinned, and only on supported systems."""

import re
from typing import get_args

import pytest

from components.catalog.post_install_scripts import (
    POST_INSTALL_SCRIPTS,
    script_supports,
    script_url,
)
from components.config.parallelcluster import OperatingSystem
from components.config.parallelcluster_nodes import Script

SYSTEMS = get_args(OperatingSystem)


@pytest.mark.parametrize("name", POST_INSTALL_SCRIPTS)
def test_every_script_is_pinned_to_a_commit(name):
    """DF-06, PCx-07: the templates took the scripts from `main`, which changes."""
    path = script_url(name).removeprefix("https://raw.githubusercontent.com/")
    owner, repository, commit, *file = path.split("/")
    assert owner.startswith("aws")
    assert repository
    assert re.fullmatch(r"[0-9a-f]{40}", commit)
    assert file[-1].endswith(".sh")


def test_a_stack_file_may_name_each_of_them():
    """PCx-07, TRN-22: Docker, Pyxis with Enroot, NCCL and Neuron."""
    assert POST_INSTALL_SCRIPTS.keys() == {"docker", "pyxis", "nccl", "neuron"}
    assert [Script(script=name).script for name in POST_INSTALL_SCRIPTS] == [*POST_INSTALL_SCRIPTS]


@pytest.mark.parametrize("address", ["s3://scripts/neuron.sh", "https://example.com/a.sh"])
def test_a_script_of_the_users_own_stays_where_it_is(address):
    assert script_url(address) == address
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
