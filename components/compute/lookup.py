"""Read images, instance types, key pairs and the zones that offer a type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.reader import AccountReader, Reading
from trainyard.components.catalog.instance_types import Architecture
from trainyard.components.compute.facts import ImageFacts, TypeFacts
from trainyard.components.compute.image_drivers import MOST_SOURCES
from trainyard.components.compute.image_registry import UsedImage, is_public, look_up_public_images
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.tagging import tag_map

# AMIs that the program looks up.
#
# It reads the id of a self-managed EKS node group from SSM; EKS, AWS Batch and
# ParallelCluster find the AMIs of their nodes themselves, by a release or a name that leads to the
# same AMI. Without it, they fail when the nodes launch.
#
# Sources:
#     https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
#     https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
#     https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html


GET_PARAMETER = "ssm:GetParameter"


DESCRIBE_IMAGES = "ec2:DescribeImages"


def image_facts(answer: dict[str, Any]) -> ImageFacts:
    """Return a machine image, from one of `Images`."""
    root = answer.get("RootDeviceName")
    volumes = {
        mapping.get("DeviceName"): mapping["Ebs"].get("VolumeSize", 0)
        for mapping in answer.get("BlockDeviceMappings", [])
        if "Ebs" in mapping
    }
    return ImageFacts(
        image_id=answer["ImageId"],
        state=answer.get("State", ""),
        architecture=answer.get("Architecture", ""),
        root_volume_gib=volumes.get(root, 0),
        platform=answer.get("PlatformDetails", ""),
        name=answer.get("Name", ""),
        from_amazon=answer.get("ImageOwnerAlias") == "amazon",
        root_device=root or "",
        description=answer.get("Description", ""),
        public_parameter=answer.get("PublicSsmParameterName", ""),
        source_image_id=answer.get("SourceImageId", ""),
        source_instance_id=answer.get("SourceInstanceId", ""),
        ena=answer.get("EnaSupport", True),
        root_device_type=answer.get("RootDeviceType", "ebs"),
        virtualization=answer.get("VirtualizationType", "hvm"),
        allowed=answer.get("ImageAllowed", True),
        needs_subscription=any(
            each.get("ProductCodeType") == "marketplace" for each in answer.get("ProductCodes", [])
        ),
        unsupported_types=frozenset(
            answer.get("InstanceTypeSpecification", {}).get("UnsupportedInstanceTypes", ())
        ),
        tags=tag_map(answer.get("Tags")),
    )


def key_pair_type(reader: AccountReader, name: str) -> str | None:
    """Return `rsa` or `ed25519`, or None if the key pair does not exist in the region."""
    answer = reader.ask("ec2:DescribeKeyPairs", reader.ec2.describe_key_pairs, KeyNames=[name])
    found = (answer or {}).get("KeyPairs", [])
    return found[0].get("KeyType", "rsa") if found else None


def look_up_image(reader: AccountReader, image_id: str) -> ImageFacts | None:
    """Return the AMI, or None if it does not exist or is not shared."""
    answer = reader.ask("ec2:DescribeImages", reader.ec2.describe_images, ImageIds=[image_id])
    found = (answer or {}).get("Images", [])
    return image_facts(found[0]) if found else None


def newest_image(reader: AccountReader, name: str) -> ImageFacts | None:
    """Return the newest Amazon AMI whose name starts with `name`, or None."""
    answer = reader.ask(
        "ec2:DescribeImages",
        reader.ec2.describe_images,
        Owners=["amazon"],
        Filters=[{"Name": "name", "Values": [f"{name}*"]}],
    )
    found = sorted((answer or {}).get("Images", []), key=lambda each: each["CreationDate"])
    return image_facts(found[-1]) if found else None


def look_up_images(reader: AccountReader, image_id: str) -> dict[str, ImageFacts]:
    """Return the AMI and those that it was made from, by id.

    The mapping is empty if the AMI does not exist. An image that AWS publishes tells itself what it
    has; sources in other regions, deleted ones and those of others are not found.
    """
    found: dict[str, ImageFacts] = {}
    wanted = image_id
    while wanted and wanted not in found and len(found) <= MOST_SOURCES:
        image = look_up_image(reader, wanted)
        if image is None:
            break
        found[wanted] = image
        wanted = "" if image.from_amazon or image.public_parameter else image.source_image_id
    return found


def offered_zone_ids(reader: AccountReader, instance_type: str) -> frozenset[str]:
    """Return the zone ids of the region that offer the type."""
    answer = reader.ask(
        "ec2:DescribeInstanceTypeOfferings",
        reader.ec2.describe_instance_type_offerings,
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [instance_type]}],
    )
    return frozenset(o["Location"] for o in (answer or {}).get("InstanceTypeOfferings", []))


# Instance types: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html


DESCRIBE_TYPES = "ec2:DescribeInstanceTypes"


def look_up_types(reader: AccountReader, names: list[str]) -> dict[str, TypeFacts]:
    """Return the instance types that the region has, by name."""
    # A filter, because InstanceTypes fails the whole call if the region lacks one type.
    answer = reader.ask_or_none(
        DESCRIBE_TYPES,
        reader.ec2.describe_instance_types,
        Filters=[{"Name": "instance-type", "Values": names}],
    )
    return {
        each["InstanceType"]: TypeFacts(
            efa_interfaces=each["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
            network_cards=each["NetworkInfo"].get("MaximumNetworkCards", 1),
            placement_strategies=frozenset(
                each.get("PlacementGroupInfo", {}).get("SupportedStrategies", ())
            ),
            usage_classes=frozenset(each.get("SupportedUsageClasses", ())),
        )
        for each in (answer or {}).get("InstanceTypes", [])
    }


def public_image_readings(reader: AccountReader, used: Iterable[UsedImage]) -> Iterator[Reading]:
    """Yield the reading of all public images, each of which is looked up once."""
    architectures: dict[str, set[Architecture]] = {}
    for each in used:
        if is_public(each.image):
            architectures.setdefault(each.image, set()).update(each.architectures)
    if architectures:
        yield lambda: {"public_images": _look_up_images(reader, architectures)}


def _look_up_images(
    reader: AccountReader, architectures: Mapping[str, set[Architecture]]
) -> Mapping[str, Any]:
    found = look_up_public_images(architectures)
    reader.unreadable += [
        f"{image}: {facts.unknown}" for image, facts in found.items() if facts.unknown is not None
    ]
    return found


def pool_image_readings(reader: AccountReader, pools: Iterable[NodePoolPlan]) -> Iterator[Reading]:
    """Yield a reading for each parameter and each name that leads to an AMI."""
    for source in dict.fromkeys(pool.image for pool in pools):
        if source.image_id is None:
            yield lambda source=source: {"pool_image_ids": _look_up_pool_image(reader, source)}


def _look_up_pool_image(reader: AccountReader, source: ImageSource) -> Mapping[str, str | None]:
    if source.name is not None:
        image = newest_image(reader, source.name)
        return {str(source): image.image_id if image else None}
    answer = reader.ask(GET_PARAMETER, reader.client("ssm").get_parameter, Name=source.parameter)
    return {str(source): answer["Parameter"]["Value"] if answer else None}
