"""Built-in scripts that a stack file can reference by name, each pinned to a commit.

A branch changes over time, so nodes of an older cluster would run another script. A commit does not
change. Read in November 2026:

- https://github.com/aws-samples/aws-parallelcluster-post-install-scripts: `docker` (Docker and
  NVIDIA's container toolkit), `nccl` (NCCL, NCCL tests and the plugin for EFA, built in
  /opt; arguments: the version of NCCL, the version of the plugin) and `pyxis`. Since 3.11 the
  official ParallelCluster AMIs contain Enroot and Pyxis, and the script only configures them; its
  argument is the Enroot data directory, by default `/tmp/enroot` on the head node and
  `/local_scratch/enroot` on other nodes.
- https://github.com/aws/aws-parallelcluster: the script with which the ParallelCluster tests
  prepare Trainium nodes on Amazon Linux 2023 and Ubuntu. It installs driver, collectives, runtime
  and tools of Neuron, and PyTorch in `~/aws_neuron_venv_pytorch`; it has no arguments.
  The script of https://github.com/aws-neuron/aws-neuron-parallelcluster-samples requires Python 3.8
  of Ubuntu 20.04, which ParallelCluster 3.16 does not support.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

POST_INSTALL_COMMIT = "66337fc41a05facf3d7bb732c80b4366c56b83c5"
"""Commit of `aws-parallelcluster-post-install-scripts`, of 2025-04-16."""
NEURON_COMMIT = "06b8d00232b1cb55fdb3b14c75ee9710791c2802"
"""Commit of `aws-parallelcluster` in which the Neuron script uses the public repositories."""

_RAW = "https://raw.githubusercontent.com"
_SAMPLES = f"{_RAW}/aws-samples/aws-parallelcluster-post-install-scripts/{POST_INSTALL_COMMIT}"
_TRAINIUM_TEST = "tests/integration-tests/tests/trainium/test_trainium/test_trainium"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostInstallScript:
    """A pinned script and its requirements."""

    url: str
    """URL of the pinned version."""
    systems: tuple[str, ...]
    """Prefixes of the operating systems (`Image/Os`) that the script supports."""


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
"""The scripts, by name in a stack file."""


def script_url(script: str) -> str:
    """Return the URL of a script: that of a built-in script by name, else the given URL."""
    own = POST_INSTALL_SCRIPTS.get(script)
    return own.url if own else script


def script_supports(script: str, operating_system: str) -> bool:
    """Return whether a script supports an operating system; always True for custom scripts."""
    own = POST_INSTALL_SCRIPTS.get(script)
    return own is None or operating_system.startswith(own.systems)
