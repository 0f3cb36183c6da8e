"""Names of this machine's platform in the releases of the programs."""

import platform
from dataclasses import dataclass

from trainyard.sandbox.engine.errors import EngineError


@dataclass(frozen=True, kw_only=True)
class Platform:
    """An operating system and architecture, by Go's names and by Pulumi's."""

    system: str
    """``linux`` or ``darwin``, as Go and Pulumi call it."""
    architecture: str
    """``amd64`` or ``arm64``, as Go, Kubernetes and etcd call it."""
    pulumi_architecture: str
    """``x64`` or ``arm64``, as Pulumi's archives call it."""

    @property
    def go_name(self) -> str:
        """The platform as Kubernetes and etcd write it in file names, ``linux-amd64``."""
        return f"{self.system}-{self.architecture}"

    @property
    def pulumi_name(self) -> str:
        """The platform as Pulumi writes it in file names, ``linux-x64``."""
        return f"{self.system}-{self.pulumi_architecture}"


_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_ARCHITECTURES = {
    "x86_64": ("amd64", "x64"),
    "amd64": ("amd64", "x64"),
    "aarch64": ("arm64", "arm64"),
    "arm64": ("arm64", "arm64"),
}


def this_platform() -> Platform:
    """Return the platform that this process runs on.

    Raises:
        EngineError: neither Pulumi nor Kubernetes runs on it.
    """
    system = _SYSTEMS.get(platform.system())
    names = _ARCHITECTURES.get(platform.machine().lower())
    if system is None or names is None:
        raise EngineError(
            f"this machine is {platform.system()} on {platform.machine()}; trainyard runs on "
            "Linux and macOS, on x86-64 and arm64"
        )
    return Platform(system=system, architecture=names[0], pulumi_architecture=names[1])
