"""The AMI of a compute environment."""

from __future__ import annotations

import re

from trainyard.components.catalog.batch import image_type
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.cloudformation.values import claim_unknown, is_known
from trainyard.importing.draft import Draft
from trainyard.importing.placeholders import id_for, is_id
from trainyard.importing.reader import Reader

_SSM_PATH = re.compile(r"\{\{resolve:ssm:/aws/service/ecs/optimized-ami/.*|/aws/service/ecs/.*")


def read_image(resources: Reader, data: Reader | None, instance_type: str, draft: Draft) -> None:
    """Read the AMI of a compute environment.

    Args:
        resources: Its `ComputeResources`.
        data: The data of its launch template, if it has one.
        instance_type: Its instance type; empty if only the user knows it.
        draft: Its entry in the stack file.
    """
    found = INSTANCE_TYPES.get(instance_type)
    automatic = image_type(found) if found is not None else None
    configurations = [*resources.at("Ec2Configuration").items()]
    for configuration in configurations:
        kind = configuration.at("ImageType")
        if automatic and kind.value != automatic and is_known(kind):
            kind.claim(
                "taken over better",
                f"`image: auto` selects {automatic}, which has the drivers of {instance_type}",
            )
    images = [each.at("ImageIdOverride") for each in configurations]
    images += [resources.at("ImageId"), *([data.at("ImageId")] if data else [])]
    for image in (each for each in images if each.exists):
        if draft.has("custom_ami_id"):
            image.dropped("Batch launches the other AMI")
        elif is_id(image.value, "ami"):
            draft.put("image", "custom")
            draft.take("custom_ami_id", image)
        elif _SSM_PATH.match(str(image.value)):
            image.claim(
                "taken over better",
                "`image: auto` selects the ECS-optimized AMI with the drivers of the type; Batch "
                "does not resolve a path of the Parameter Store",
                ours=draft.at,
            )
        else:
            claim_unknown(image, (*draft.at, "custom_ami_id"))
            image.unsupported("set `image: custom`, and `custom_ami_id` to the id of the AMI")
    if found is not None and automatic is None and not draft.has("custom_ami_id"):
        # Batch has no AMI with the drivers of the type.
        draft.put("image", "custom")
        draft.needs("custom_ami_id", id_for("ami"))
