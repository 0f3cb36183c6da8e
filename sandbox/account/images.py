"""Machine images: EKS's with their public SSM parameters, and those from which Batch chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ssm.models import Parameter, ssm_backends

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.eks.versions import NODE_RELEASES
from trainyard.sandbox.aws.environment import ACCOUNT_ID

# EKS's machine images and the public SSM parameters that lead to them.
#
# Parameter names: https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html


ROOT_DEVICE = "/dev/xvda"

PUBLISHED_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""Creation date of every image and parameter; any fixed date works."""

_ARCHITECTURES = {
    "standard": ("x86_64", "arm64"),
    "nvidia": ("x86_64", "arm64"),
    "neuron": ("x86_64",),
}
"""Architectures of each kind: `AMITypes` of
https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html"""


@dataclass(frozen=True)
class EksImage:
    """One image of EKS for Amazon Linux 2023."""

    kubernetes_version: str
    kind: str
    """`standard`, `nvidia` or `neuron`."""
    release_version: str
    """`1.35.2-20260101`, as node groups name it."""
    architecture: str = "x86_64"
    """`x86_64` or `arm64`."""

    @property
    def image_id(self) -> str:
        """Its id: readable, and the same in every sandbox."""
        number = ("standard", "nvidia", "neuron").index(self.kind) + 1
        number += 3 * (self.architecture == "arm64")
        return f"ami-0e50000000000{self.kubernetes_version.replace('.', '')}{number}"

    @property
    def name(self) -> str:
        """Its name as EKS gives it."""
        date = self.release_version.rpartition("-")[2]
        kind = f"{self.architecture}-{self.kind}"
        return f"amazon-eks-node-al2023-{kind}-{self.kubernetes_version}-v{date}"

    @property
    def description(self) -> str:
        """Its description as EKS gives it: the one place that names the kubelet's version."""
        kubelet = self.release_version.partition("-")[0]
        return f"EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: {kubelet})"

    def parameters(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each SSM parameter that leads to the image."""
        path = (
            f"/aws/service/eks/optimized-ami/{self.kubernetes_version}/amazon-linux-2023/"
            f"{self.architecture}/{self.kind}"
        )
        for release in ("recommended", self.name):
            yield f"{path}/{release}/image_id", self.image_id
            yield f"{path}/{release}/image_name", self.name
            yield f"{path}/{release}/release_version", self.release_version


def eks_images(kinds: list[str]) -> list[EksImage]:
    """Return EKS's images: every Kubernetes version with images in every kind and architecture."""
    return [
        EksImage(version, kind, release, architecture)
        for version, release in NODE_RELEASES.items()
        for kind in kinds
        for architecture in _ARCHITECTURES[kind]
    ]


def load_images(region: str, images: Mapping[str, Any]) -> None:
    """Register the images and the parameters."""
    ec2 = ec2_backends[ACCOUNT_ID][region]
    for image in eks_images(images["kinds"]):
        register(
            ec2,
            image.image_id,
            image.name,
            images["owner"],
            image.description,
            architecture=image.architecture,
        )
        for name, value in image.parameters():
            publish(region, name, value)
    for other in images["others"]:
        register(ec2, other["id"], other["name"], other["owner"])


class SizedImage(Ami):
    """An image with its own root volume size; moto's images all have the same size."""

    volume_gib: int | None = None
    """Size of the root volume in GiB; None: moto's."""
    platform_details = "Linux/UNIX"
    """As billing has it.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html"""

    @property
    def block_device_mappings(self) -> list[dict[str, Any]]:
        """The root volume, as DescribeImages gives it."""
        mappings = super().block_device_mappings
        if self.volume_gib is not None:
            mappings[0]["Ebs"]["VolumeSize"] = self.volume_gib
        return mappings


def register(
    ec2: Any,
    image_id: str,
    name: str,
    owner: str,
    description: str = "",
    *,
    architecture: str = "x86_64",
    root_device: str = ROOT_DEVICE,
    volume_gib: int | None = None,
    platform: str = SizedImage.platform_details,
    tags: Mapping[str, str] | None = None,
) -> None:
    """Register an image in EC2: public and owned by Amazon, or private and owned by the account.

    Args:
        ec2: moto's EC2 backend.
        image_id: Its id.
        name: Its name.
        owner: Id of the account that owns it.
        description: Its description.
        architecture: `x86_64` or `arm64`.
        root_device: Name of the root device.
        volume_gib: Size of the root volume; None: moto's.
        platform: Platform of capacity reservations for it.
        tags: Its tags, which only the owner sees in AWS.
    """
    own = owner == ACCOUNT_ID
    # moto's metaclass hides the class that the call makes from type checkers.
    image: Any = SizedImage(
        ec2,
        image_id,
        name=name,
        description=description,
        owner_id=owner,
        owner_alias=None if own else "amazon",
        public=not own,
        virtualization_type="hvm",
        architecture=architecture,
        creation_date=PUBLISHED_AT,
        platform=None,
        image_location=f"{owner if own else 'amazon'}/{name}",
        hypervisor="xen",
        root_device_type="ebs",
        root_device_name=root_device,
        region_name=f"{ec2.region_name}a",
        tags=dict(tags or {}),
    )
    image.volume_gib = volume_gib
    image.platform_details = platform
    ec2.amis[image_id] = image


def publish(region: str, name: str, value: str) -> None:
    """Put a public SSM parameter into the account."""
    # This bypasses PutParameter, which rejects names below /aws; moto does so for its own ones.
    parameters = ssm_backends[ACCOUNT_ID][region]._parameters  # noqa: SLF001 - moto has no other way
    # As with images above.
    parameter: Any = Parameter(
        account_id=ACCOUNT_ID,
        name=name,
        value=value,
        parameter_type="String",
        description=None,
        allowed_pattern=None,
        keyid=None,
        last_modified_date=PUBLISHED_AT,
        version=1,
        data_type="text",
    )
    parameters[name].append(parameter)


def image_of_type(image_type: str, kubernetes_version: str) -> str:
    """Return the id of EKS's image of a type such as `AL2023_x86_64_NVIDIA`.

    Raises:
        KeyError: The account has none for the version.
    """
    kind = image_type.rpartition("_")[2].lower()
    architecture = "arm64" if "_ARM_64_" in image_type else "x86_64"
    release = NODE_RELEASES[kubernetes_version]
    return EksImage(kubernetes_version, kind, release, architecture).image_id


# The machine images that ECS publishes, from which Batch chooses by default.
#
# Names: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-optimized_AMI.html
# Their SSM parameters: retrieve-ecs-optimized_AMI.html in the same guide


STANDARD, NVIDIA, NEURON = (
    fixture()["ecs_images"][kind] for kind in ("standard", "nvidia", "neuron")
)
ARM = "ami-0ec50000000020234"

_OWNER = "591542846629"
_VARIANTS = {STANDARD: "", NVIDIA: "gpu-", NEURON: "neuron-", ARM: "arm64-"}
_RELEASE = "2023.0.20260101-kernel-6.1"
_VOLUME_GIB = 30
_IMAGES_OF_TYPES = {"ECS_AL2023": STANDARD, "ECS_AL2023_NVIDIA": NVIDIA}
"""Images by `imageType`; support for those of Amazon Linux 2 ended on 2026-06-30.
https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html"""


def load_ecs_images(ec2: Any) -> None:
    """Register the images, and publish their SSM parameters."""
    # moto's parameters, of which there are 5,500, name images that the account does not have.
    parameters: Any = ssm_backends[ACCOUNT_ID][ec2.region_name]
    parameters._parameters.latest_ecs_amis_loaded = True  # noqa: SLF001 - moto has no other way
    for image_id, variant in _VARIANTS.items():
        architecture = "arm64" if image_id == ARM else "x86_64"
        drivers = "" if image_id == ARM else variant
        name = f"al2023-ami-ecs-{drivers}hvm-{_RELEASE}-{architecture}"
        register(ec2, image_id, name, _OWNER, architecture=architecture, volume_gib=_VOLUME_GIB)
        path = f"amazon-linux-2023/{variant.replace('-', '/')}recommended/image_id"
        publish(ec2.region_name, f"/aws/service/ecs/optimized-ami/{path}", image_id)


def batch_image_of_type(image_type: str | None, instance_type: str) -> str:
    """Return the id of the image that Batch starts a node from.

    Args:
        image_type: `Ec2Configuration.imageType`; None for Batch's default, which has NVIDIA drivers
            if the instance type has NVIDIA GPUs.
        instance_type: The node's type.

    Raises:
        NotImplementedError: The sandbox has no image of the type.
    """
    described = INSTANCE_TYPES[instance_type]
    if "arm64" in described["ProcessorInfo"]["SupportedArchitectures"]:
        if image_type not in (None, "ECS_AL2023"):
            raise NotImplementedError(f"images of type {image_type} for arm64")
        return ARM
    if image_type is None:
        gpus = (described.get("GpuInfo") or {}).get("Gpus", [])
        return NVIDIA if any(gpu["Manufacturer"] == "NVIDIA" for gpu in gpus) else STANDARD
    if image_type not in _IMAGES_OF_TYPES:
        raise NotImplementedError(f"images of type {image_type}")
    return _IMAGES_OF_TYPES[image_type]
