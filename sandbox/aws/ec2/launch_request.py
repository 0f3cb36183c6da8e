"""A launch of instances: request and launch template merged into one set of parameters.

RunInstances and Auto Scaling both use this; the origin of a value does not matter afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.core.types import Base64EncodedString
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.utils import parse_user_data

from trainyard.sandbox.aws.errors import refuse

Parameters = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """The parameters of a launch, with EC2's field names.

    Attributes:
        parameters: Fields of RunInstances, merged with those of the launch template.
        minimum_count: Minimum number of instances; otherwise none is launched.
        maximum_count: Maximum number of instances.
        tags: Tags by resource type.
        template_tags: The `aws:ec2launchtemplate:*` tags of the instances.
    """

    parameters: Parameters
    minimum_count: int
    maximum_count: int
    tags: Mapping[str, Mapping[str, str]]
    template_tags: Mapping[str, str]

    @property
    def instance_type(self) -> str:
        """The instance type; EC2's default is m1.small."""
        return self.parameters.get("InstanceType") or "m1.small"

    @property
    def image_id(self) -> str | None:
        """The image."""
        return self.parameters.get("ImageId")

    @property
    def interfaces(self) -> list[Parameters]:
        """The requested network interfaces; if empty, EC2 creates the primary one."""
        return list(self.parameters.get("NetworkInterfaces") or [])

    @property
    def placement_group(self) -> str | None:
        """Name of the placement group."""
        return (self.parameters.get("Placement") or {}).get("GroupName") or None

    @property
    def market_type(self) -> str | None:
        """`spot`, `capacity-block` or None."""
        return (self.parameters.get("InstanceMarketOptions") or {}).get("MarketType")

    @property
    def reservation_target(self) -> Parameters:
        """`CapacityReservationTarget`, or an empty mapping."""
        specification = self.parameters.get("CapacityReservationSpecification") or {}
        return specification.get("CapacityReservationTarget") or {}

    @property
    def reservation_preference(self) -> str:
        """`open` (the default), `none` or `capacity-reservations-only`."""
        specification = self.parameters.get("CapacityReservationSpecification") or {}
        return specification.get("CapacityReservationPreference") or "open"

    @property
    def user_data(self) -> Base64EncodedString | None:
        """The user data."""
        value = self.parameters.get("UserData")
        return value if isinstance(value, Base64EncodedString) else parse_user_data(value)


def merge(ec2: Any, request: Parameters, *, subnet_id: str | None = None) -> LaunchRequest:
    """Merge a launch template into a request.

    Args:
        ec2: moto's EC2 backend.
        request: Fields of RunInstances, which take precedence over the template's.
        subnet_id: Subnet that Auto Scaling has chosen, for all interfaces.

    Raises:
        EC2ClientError: The launch template or its version does not exist.
    """
    version = _template_version(ec2, request.get("LaunchTemplate"))
    template = version.data if version else {}
    asked = {key: value for key, value in request.items() if value not in (None, [], {}, "")}
    parameters = {**template, **asked}
    if subnet_id:
        parameters = _in_subnet(parameters, subnet_id)
    return LaunchRequest(
        parameters=parameters,
        minimum_count=int(request.get("MinCount") or 1),
        maximum_count=int(request.get("MaxCount") or 1),
        tags=_merged_tags(template, request),
        template_tags={}
        if version is None
        else {
            "aws:ec2launchtemplate:id": version.template.id,
            "aws:ec2launchtemplate:version": str(version.number),
        },
    )


def _template_version(ec2: Any, specification: Parameters | None) -> Any:
    if not specification:
        return None
    template_id = specification.get("LaunchTemplateId")
    name = specification.get("LaunchTemplateName")
    if bool(template_id) == bool(name):
        refuse(
            "InvalidParameterCombination",
            "Provide either the launch template's ID or its name, and not both.",
        )
    template = (
        ec2.get_launch_template(template_id)
        if template_id
        else ec2.get_launch_template_by_name(name)
    )
    try:
        return template.get_version(specification.get("Version") or "$Default")
    except (ValueError, EC2ClientError):
        refuse(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"Could not find the specified version {specification.get('Version')} for the launch "
            f"template with ID {template.id}.",
        )


def _in_subnet(parameters: Parameters, subnet_id: str) -> dict[str, Any]:
    interfaces = parameters.get("NetworkInterfaces")
    if not interfaces:
        return {**parameters, "SubnetId": subnet_id}
    placed = [{**interface, "SubnetId": subnet_id} for interface in interfaces]
    return {**parameters, "NetworkInterfaces": placed}


def _merged_tags(*sources: Parameters) -> dict[str, dict[str, str]]:
    tags: dict[str, dict[str, str]] = {}
    for source in sources:
        for specification in source.get("TagSpecifications") or []:
            of_type = tags.setdefault(specification.get("ResourceType", ""), {})
            of_type.update(
                {tag["Key"]: tag.get("Value", "") for tag in specification.get("Tags") or []}
            )
    return tags
