"""ParallelCluster's machine images: the official ones, and ones that the account has built.

Names: `aws-parallelcluster-<version>-<system>-<architecture>-<date>`, which is how `pcluster` finds
them; https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/aws/ec2.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.catalog.parallelcluster import RESERVATION_PLATFORMS, official_image_name
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.sandbox.account.images import register
from trainyard.sandbox.aws.environment import ACCOUNT_ID

_SYSTEMS = ("alinux2023", "ubuntu2204", "ubuntu2404", "rhel8", "rhel9")
"""Systems that an image is published for. Rocky Linux is supported, but not published.

https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py
"""

_ARCHITECTURES = ("x86_64", "arm64")
_RELEASED = "202609081200"
_VOLUME_GIB = 45
"""Size of the images' root volume: the default that ParallelCluster gives its nodes, which,
according to the same file, is not smaller than an image."""


@dataclass(frozen=True)
class OfficialImage:
    """One image that the team of ParallelCluster has published."""

    operating_system: str
    """As `Image/Os` names it: `alinux2023`."""
    architecture: str
    """`x86_64` or `arm64`."""

    @property
    def image_id(self) -> str:
        """Its id: readable, and the same in every sandbox."""
        system = _SYSTEMS.index(self.operating_system) + 1
        architecture = _ARCHITECTURES.index(self.architecture) + 1
        version = PARALLELCLUSTER_VERSION.replace(".", "")
        return f"ami-0c{version:0<13}{system}{architecture}"

    @property
    def name(self) -> str:
        """Its name."""
        named = official_image_name(
            PARALLELCLUSTER_VERSION, self.operating_system, self.architecture
        )
        return f"{named}-{_RELEASED}"


def official_images() -> list[OfficialImage]:
    """Return the images of the version that the program pins, one a system and architecture."""
    return [
        OfficialImage(system, architecture)
        for system in _SYSTEMS
        for architecture in _ARCHITECTURES
    ]


def load_parallelcluster_images(ec2: Any, images: Mapping[str, Any]) -> None:
    """Register the official images and those that the account has built.

    Args:
        ec2: moto's EC2 backend.
        images: `parallelcluster_images` of the fixture.
    """
    for image in official_images():
        register(
            ec2,
            image.image_id,
            image.name,
            images["owner"],
            architecture=image.architecture,
            root_device=_root_device(image.operating_system),
            volume_gib=_VOLUME_GIB,
            platform=RESERVATION_PLATFORMS[image.operating_system],
        )
    for built in images["custom"]:
        register(
            ec2,
            built["id"],
            built["name"],
            ACCOUNT_ID,
            root_device=_root_device(built["os"]),
            volume_gib=_VOLUME_GIB,
            platform=RESERVATION_PLATFORMS[built["os"]],
            tags=_tags(built),
        )


def _tags(built: Mapping[str, str]) -> dict[str, str]:
    """Return the tags with which `pcluster build-image` marks what it has built.

    https://docs.aws.amazon.com/parallelcluster/latest/ug/building-custom-ami-v3.html
    """
    return {
        "parallelcluster:image_id": built["name"],
        "parallelcluster:version": built.get("version", PARALLELCLUSTER_VERSION),
        "parallelcluster:os": built["os"],
        "parallelcluster:build_status": "available",
    }


def _root_device(operating_system: str) -> str:
    return "/dev/xvda" if operating_system == "alinux2023" else "/dev/sda1"
