"""The machine images that ECS publishes, from which Batch chooses by default.

Names: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-optimized_AMI.html
Their SSM parameters: retrieve-ecs-optimized_AMI.html in the same guide
"""

from __future__ import annotations

from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ssm.models import ssm_backends

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.account.images import publish, register
from trainyard.sandbox.aws.environment import ACCOUNT_ID

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


def image_of_type(image_type: str | None, instance_type: str) -> str:
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
