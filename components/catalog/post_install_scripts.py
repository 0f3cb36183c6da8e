"""The scripts that a stack file may name in place of an address, each pinned to a commit.

A branch moves under the nodes that start from it: today's script of a year-old cluster would be
another one. A commit does not move. Read in November 2026:

- https://github.com/aws-samples/aws-parallelcluster-post-install-scripts: `docker` (Docker and
  NVIDIA's container toolkit), `nccl` (NCCL, NCCL tests and the plugin for EFA, built in
  /opt; arguments: the version of NCCL, the version of the plugin) and `pyxis`. Since 3.11
  ParallelCluster's own images hold Enroot and Pyxis, and the script only configures them; its
  argument is the directory of Enroot's data, `/tmp/enroot` on the head node and
  `/local_scratch/enroot` on the others where there is none.
- https://github.com/aws/aws-parallelcluster: the script with which ParallelCluster's own tests
  prepare nodes with Trainium on Amazon Linux 2023 and Ubuntu. It installs driver, collectives,
  runtime and tools of Neuron, and PyTorch into `~/aws_neuron_venv_pytorch`; it takes no arguments.
  The script of https://github.com/aws-neuron/aws-neuron-parallelcluster-samples wants Python 3.8 of
  Ubuntu 20.04, which ParallelCluster 3.16 does not support.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

POST_INSTALL_COMMIT = "66337fc41a05facf3d7bb732c80b4366c56b83c5"
"""Commit of `aws-parallelcluster-post-install-scripts`, of 2025-04-16."""
NEURON_COMMIT = "06b8d00232b1cb55fdb3b14c75ee9710791c2802"
"""Commit of `aws-parallelcluster` in which the Neuron script uses the public repositories."""

NEURON_ENVIRONMENT = "aws_neuron_venv_pytorch"
"""Virtual environment that the Neuron script makes in the default user's home."""

_RAW = "https://raw.githubusercontent.com"
_SAMPLES = f"{_RAW}/aws-samples/aws-parallelcluster-post-install-scripts/{POST_INSTALL_COMMIT}"
_TRAINIUM_TEST = "tests/integration-tests/tests/trainium/test_trainium/test_trainium"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostInstallScript:
    """A script that the program pins, and what it expects of a node."""

    url: str
    """Address of this very version."""
    systems: tuple[str, ...]
    """Prefixes of the operating systems (`Image/Os`) on which the script ends well."""


POST_INSTALL_SCRIPTS: Mapping[str, PostInstallScript] = MappingProxyType(
    {
        "docker": PostInstallScript(
            url=f"{_SAMPLES}/docker/postinstall.sh", systems=("alinux", "ubuntu")
        ),
        "pyxis": PostInstallScript(
            url=f"{_SAMPLES}/pyxis/postinstall.sh", systems=("alinux", "ubuntu", "rhel", "rocky")
        ),
        "nccl": PostInstallScript(
            url=f"{_SAMPLES}/nccl/postinstall.sh", systems=("alinux", "ubuntu", "rhel", "rocky")
        ),
        "neuron": PostInstallScript(
            url=f"{_RAW}/aws/aws-parallelcluster/{NEURON_COMMIT}/{_TRAINIUM_TEST}/"
            "neuron-installation.sh",
            systems=("alinux", "ubuntu"),
        ),
    }
)
"""The scripts, by the name that a stack file uses."""


def script_url(script: str) -> str:
    """Return the address of a script: of one of the program's own by its name, else as it is."""
    own = POST_INSTALL_SCRIPTS.get(script)
    return own.url if own else script


def script_supports(script: str, operating_system: str) -> bool:
    """Return whether a script runs on an operating system; one of the user's own always does."""
    own = POST_INSTALL_SCRIPTS.get(script)
    return own is None or operating_system.startswith(own.systems)
