"""ParallelCluster's machine images: the official ones, and ones that the account has built.

Source: https://github.com/aws/aws-parallelcluster/tree/v3.16.1/cli/src/pcluster
    `aws/ec2.py`: the names `aws-parallelcluster-<version>-<system>-<architecture>-<date>`, by which
        `pcluster` finds the images
    `constants.py`: systems (`OS_TO_IMAGE_NAME_PART_MAP` without `PRIVATE_OSES`, to which Rocky
        Linux belongs), their platforms (`CAPACITY_RESERVATION_OS_MAP`), root volumes
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.account.images import register
from trainyard.sandbox.aws.environment import ACCOUNT_ID

PARALLELCLUSTER_VERSION = "3.16.1"
"""The version whose images the account has: the one that the sandbox runs."""

_SYSTEMS = {
    "alinux2023": "amzn2023-hvm",
    "ubuntu2204": "ubuntu-2204-lts-hvm",
    "ubuntu2404": "ubuntu-2404-lts-hvm",
    "rhel8": "rhel8-hvm",
    "rhel9": "rhel9-hvm",
}
"""Systems that an image is published for, with their part of its name."""

_ARCHITECTURES = ("x86_64", "arm64")
_RELEASED = "202609081200"
_VOLUME_GIB = 45
"""Size of the images' root volume: the default that ParallelCluster gives its nodes
(`EBS_ROOT_VOLUME_SIZE_DEFAULT`), which is not smaller than an image."""


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
        system = [*_SYSTEMS].index(self.operating_system) + 1
        architecture = _ARCHITECTURES.index(self.architecture) + 1
        version = PARALLELCLUSTER_VERSION.replace(".", "")
        return f"ami-0c{version:0<13}{system}{architecture}"

    @property
    def name(self) -> str:
        """Its name."""
        system = f"{_SYSTEMS[self.operating_system]}-{self.architecture}"
        return f"aws-parallelcluster-{PARALLELCLUSTER_VERSION}-{system}-{_RELEASED}"


def official_images() -> list[OfficialImage]:
    """Return the official images, one a system and architecture."""
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
            platform=platform_of(image.operating_system),
        )
    for built in images["custom"]:
        register(
            ec2,
            built["id"],
            built["name"],
            ACCOUNT_ID,
            root_device=_root_device(built["os"]),
            volume_gib=_VOLUME_GIB,
            platform=platform_of(built["os"]),
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


def platform_of(operating_system: str) -> str:
    """Return the platform of a system's images, which a capacity reservation must have too."""
    return "Red Hat Enterprise Linux" if operating_system.startswith("rhel") else "Linux/UNIX"


def _root_device(operating_system: str) -> str:
    return "/dev/xvda" if operating_system == "alinux2023" else "/dev/sda1"
