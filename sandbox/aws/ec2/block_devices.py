"""Volumes of launched instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.aws.ec2.launch_request import LaunchRequest

_ROOT_SIZE_GIB = 20
"""Root volume size of an EKS image if the launch does not specify one.

https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
"""


def attach_block_devices(ec2: Any, instance: Any, launch: LaunchRequest) -> None:
    """Create and attach the volumes of a launch, and the image's root volume.

    Args:
        ec2: moto's EC2 backend.
        instance: The launched instance, already known to the backend.
        launch: Its launch; instance store mappings (`VirtualName`) create no volume.
    """
    mappings: dict[str, Mapping[str, Any]] = {instance.root_device_name: {}}
    for mapping in launch.parameters.get("BlockDeviceMappings") or []:
        if mapping.get("VirtualName") or mapping.get("NoDevice") is not None:
            continue
        mappings[mapping["DeviceName"]] = mapping.get("Ebs") or {}
    for device_name, ebs in mappings.items():
        volume = ec2.create_volume(
            size=int(ebs.get("VolumeSize") or _ROOT_SIZE_GIB),
            zone_name=instance.placement.zone,
            encrypted=bool(ebs.get("Encrypted", False)),
            kms_key_id=ebs.get("KmsKeyId"),
            volume_type=ebs.get("VolumeType") or "gp3",
            iops=ebs.get("Iops"),
            throughput=ebs.get("Throughput"),
        )
        volume.add_tags(dict(launch.tags.get("volume", {})))
        ec2.attach_volume(volume.id, instance.id, device_name, ebs.get("DeleteOnTermination", True))
