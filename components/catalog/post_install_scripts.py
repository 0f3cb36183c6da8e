"""Built-in scripts that a stack file can reference by name, and the versions that they install.

The scripts are in `components/parallelcluster/node_script_sources`. A node of next year gets what
today's gets: packages by version, sources by commit, and no update of the operating system.
Packages of Amazon Linux 2023 itself need no version, because its image installs from the
repositories of its own release, which do not change
(https://docs.aws.amazon.com/linux/al2023/ug/deterministic-upgrades-usage.html).

They replace AWS's scripts, which download what changes. Read in November 2026:

- `docker`, `nccl`, `pyxis`: https://github.com/aws-samples/aws-parallelcluster-post-install-scripts
  at 66337fc41a05facf3d7bb732c80b4366c56b83c5. The arguments are the same: of `nccl`, the version of
  NCCL and that of the plugin; of `pyxis`, the directory of Enroot.
- `neuron`: neuron-installation.sh of ParallelCluster's tests
  (https://github.com/aws/aws-parallelcluster) and
  https://awsdocs-neuron.readthedocs-hosted.com/en/v2.32.0/setup/pytorch/manual.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NEURON_DRIVER_VERSION = "2.30.2.0"
"""Packages of Neuron 2.32.0, the release of `NEURON_VERSION`: `src/helperscripts/n2-manifest.json`
of https://github.com/aws-neuron/aws-neuron-sdk at 81ce03ae261e12925e53437a0f690478e6366155."""
NEURON_COLLECTIVES_VERSION = "2.34.10.0"
NEURON_RUNTIME_VERSION = "2.34.10.0"
NEURON_TOOLS_VERSION = "2.32.28.0"

DOCKER_VERSION = "29.8.2"
"""Packages of https://download.docker.com/linux/ubuntu; this version, containerd and Buildx are in
its lists of Ubuntu 22.04 and 24.04, and Compose in that of 24.04."""
CONTAINERD_VERSION = "2.3.6"
BUILDX_VERSION = "0.37.1"
COMPOSE_VERSION = "5.6.0"

NVIDIA_CONTAINER_TOOLKIT_VERSION = "1.20.0"
"""https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html"""

NODE_NCCL_VERSION = "v2.21.5-1"
"""Tags of https://github.com/NVIDIA/nccl, https://github.com/aws/aws-ofi-nccl (the versions of
AWS's script) and https://github.com/NVIDIA/nccl-tests, with their commits, because a tag can
move."""
NODE_NCCL_COMMIT = "ab2b89c4c339bd7f816fbc114a4b05d386b66290"
NODE_OFI_NCCL_VERSION = "v1.9.1-aws"
NODE_OFI_NCCL_COMMIT = "ed1861ee22c03ee10d11ac19449a169cfcfd61f5"
NODE_NCCL_TESTS_VERSION = "v2.16.0"
NODE_NCCL_TESTS_COMMIT = "9b9de7da81c3fcbee62e5e3a5e621391673f3cd3"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostInstallScript:
    """A built-in script and its requirements."""

    systems: tuple[str, ...]
    """Prefixes of the operating systems (`Image/Os`) that the script supports."""
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of the script with what it installs."""


POST_INSTALL_SCRIPTS: Mapping[str, PostInstallScript] = MappingProxyType(
    {
        "docker": PostInstallScript(
            systems=("alinux", "ubuntu"),
            pins={
                "DOCKER_VERSION": DOCKER_VERSION,
                "CONTAINERD_VERSION": CONTAINERD_VERSION,
                "BUILDX_VERSION": BUILDX_VERSION,
                "COMPOSE_VERSION": COMPOSE_VERSION,
                "NVIDIA_CONTAINER_TOOLKIT_VERSION": NVIDIA_CONTAINER_TOOLKIT_VERSION,
            },
        ),
        "pyxis": PostInstallScript(systems=("alinux", "ubuntu", "rhel", "rocky")),
        "nccl": PostInstallScript(
            systems=("alinux", "ubuntu", "rhel", "rocky"),
            pins={
                "NCCL_TAG": NODE_NCCL_VERSION,
                "NCCL_COMMIT": NODE_NCCL_COMMIT,
                "NCCL_TESTS_TAG": NODE_NCCL_TESTS_VERSION,
                "NCCL_TESTS_COMMIT": NODE_NCCL_TESTS_COMMIT,
                "PLUGIN_TAG": NODE_OFI_NCCL_VERSION,
                "PLUGIN_COMMIT": NODE_OFI_NCCL_COMMIT,
            },
        ),
        "neuron": PostInstallScript(
            systems=("alinux", "ubuntu"),
            pins={
                "NEURON_DRIVER_VERSION": NEURON_DRIVER_VERSION,
                "NEURON_COLLECTIVES_VERSION": NEURON_COLLECTIVES_VERSION,
                "NEURON_RUNTIME_VERSION": NEURON_RUNTIME_VERSION,
                "NEURON_TOOLS_VERSION": NEURON_TOOLS_VERSION,
            },
        ),
    }
)
"""The scripts, by name in a stack file."""


def takes_own_directory(script: str) -> bool:
    """Return whether the first argument of a script is a directory that it treats as its own.

    Both `pyxis` and AWS's script of this name, at any commit since ParallelCluster 3.11, make it
    writable for everybody; AWS's script also all files in it.
    """
    return script == "pyxis" or _AWS_PYXIS.search(script) is not None


_AWS_PYXIS = re.compile(r"/aws-parallelcluster-post-install-scripts/.+/pyxis/postinstall\.sh$")


def script_supports(script: str, operating_system: str) -> bool:
    """Return whether a script supports an operating system; always True for custom scripts."""
    own = POST_INSTALL_SCRIPTS.get(script)
    return own is None or operating_system.startswith(own.systems)
