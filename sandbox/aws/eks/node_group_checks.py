"""EKS's validation of a managed node group and its launch template.

https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.ec2.exceptions import EC2ClientError

from trainyard.sandbox.aws.eks.errors import invalid_parameter, invalid_request
from trainyard.sandbox.aws.eks.versions import NODE_RELEASES, minor_number

About = Mapping[str, Any]

_PROHIBITED = {
    "IamInstanceProfile": "an IAM instance profile (the node role of the node group is used)",
    "InstanceInitiatedShutdownBehavior": "a shutdown behavior",
    "HibernationOptions": "a stop-hibernate behavior",
}


def template_of(ec2: Any, specification: Mapping[str, Any], about: About) -> Any:
    """Return moto's version of a launch template.

    Raises:
        InvalidRequestException: It does not exist.
    """
    try:
        template = (
            ec2.get_launch_template(specification["id"])
            if specification.get("id")
            else ec2.get_launch_template_by_name(specification.get("name"))
        )
        return template.get_version(specification.get("version") or "$Default")
    except (EC2ClientError, ValueError) as error:
        invalid_request(f"The launch template could not be found: {error}", **about)


def check_template(template: Mapping[str, Any], asked: Mapping[str, Any], about: About) -> None:
    """Reject a template with settings that belong to the node group.

    Args:
        template: The template's data.
        asked: The parameters of the node group.
        about: Names for the error.

    Raises:
        InvalidRequestException: The first setting that is not allowed.
    """
    interfaces = template.get("NetworkInterfaces") or []
    if any(interface.get("SubnetId") for interface in interfaces):
        invalid_request(
            "The launch template may not specify a subnet in its network interfaces; the subnets "
            "of a managed node group stand in the node group.",
            **about,
        )
    for field, words in _PROHIBITED.items():
        if template.get(field):
            invalid_request(f"The launch template may not specify {words}.", **about)
    if template.get("InstanceType") and asked.get("instanceTypes"):
        invalid_parameter(
            "Instance type cannot be specified in both the node group and the launch template.",
            **about,
        )
    if template.get("ImageId"):
        given = [key for key in ("amiType", "version", "releaseVersion") if asked.get(key)]
        given = [key for key in given if asked[key] != "CUSTOM" and "nodegroupArn" not in asked]
        if given:
            invalid_parameter(
                f"{given[0]} cannot be specified with a launch template that has an image.",
                **about,
            )


def check_capacity(asked: Mapping[str, Any], template: Mapping[str, Any], about: About) -> None:
    """Reject a capacity type that does not match the template.

    Raises:
        InvalidRequestException: A Capacity Block without the required settings, or a template for
            one without the capacity type.
    """
    capacity_type = asked.get("capacityType") or "ON_DEMAND"
    market = (template.get("InstanceMarketOptions") or {}).get("MarketType")
    if capacity_type != "CAPACITY_BLOCK":
        if market == "capacity-block":
            invalid_request(
                "The launch template has the market type capacity-block; the node group needs the "
                "capacity type CAPACITY_BLOCK.",
                **about,
            )
        if market == "spot":
            invalid_request(
                "The launch template may not have the market type spot; the node group has the "
                "capacity type SPOT for it.",
                **about,
            )
        return
    reservation = (template.get("CapacityReservationSpecification") or {}).get(
        "CapacityReservationTarget"
    )
    missing = [
        words
        for words, present in (
            ("the market type capacity-block", market == "capacity-block"),
            ("a capacity reservation target", bool(reservation)),
            ("an instance type", bool(template.get("InstanceType"))),
        )
        if not present
    ]
    if missing:
        invalid_request(
            f"The capacity type CAPACITY_BLOCK needs a launch template with {', '.join(missing)}.",
            **about,
        )


def check_scaling(scaling: Mapping[str, int]) -> None:
    """Reject contradictory sizes.

    Raises:
        InvalidParameterException: The first contradiction.
    """
    minimum, maximum, desired = scaling["minSize"], scaling["maxSize"], scaling["desiredSize"]
    if maximum < 1:
        invalid_parameter("Maximum capacity must be at least 1")
    if minimum > maximum:
        invalid_parameter(
            f"Minimum capacity {minimum} can't be greater than maximum size {maximum}"
        )
    if desired < minimum:
        invalid_parameter(
            f"Minimum capacity {minimum} can't be greater than desired size {desired}"
        )
    if desired > maximum:
        invalid_parameter(f"Desired capacity {desired} can't be greater than max size {maximum}")


def check_release(version: str, release: str | None, cluster_version: str, about: About) -> str:
    """Return the requested release of the node images.

    Raises:
        InvalidParameterException: The nodes would be newer than the control plane, or the sandbox
            has no images of the release.
    """
    if minor_number(version) > minor_number(cluster_version):
        invalid_parameter(
            f"Nodegroup Kubernetes version {version} is newer than the version of the cluster, "
            f"{cluster_version}",
            **about,
        )
    there = NODE_RELEASES.get(version)
    if there is None or release not in (None, there):
        known = ", ".join(NODE_RELEASES.values())
        invalid_parameter(
            f"Requested Nodegroup release version {release or version} is invalid. Allowed release "
            f"version is {known}",
            **about,
        )
    return there
