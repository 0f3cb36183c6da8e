"""Instances of a compute environment, launched from its template with EC2's validation.

Settings of the environment override the launch template; the template's type, role and subnets are
ignored. https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models.instance_types import INSTANCE_TYPES

from trainyard.sandbox.account.images import batch_image_of_type
from trainyard.sandbox.aws.batch.store import ComputeEnvironment, Fields, Node
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest, merge
from trainyard.sandbox.aws.ec2.launches import (
    check_launch,
    check_request,
    refuse_scheduled_launch,
    run,
)
from trainyard.sandbox.aws.errors import code_and_message

_MIME_HEADERS = ("mime-version:", "content-type: multipart/")


def launch_request(
    ec2: Any, environment: ComputeEnvironment, instance_type: str, subnet_id: str
) -> LaunchRequest:
    """Return the launch request of a node in a subnet.

    Raises:
        ServiceException: The launch template or its version does not exist.
    """
    resources = environment.resources
    template = _template(ec2, environment)
    request: dict[str, Any] = {
        "LaunchTemplate": _specification(environment),
        "InstanceType": instance_type,
        "ImageId": _image(resources, template, instance_type),
        "IamInstanceProfile": _profile(resources["instanceRole"]),
        "KeyName": resources.get("ec2KeyPair"),
        "SecurityGroupIds": resources.get("securityGroupIds"),
        "Placement": _placement(resources, template),
        "InstanceMarketOptions": {"MarketType": "spot"} if resources["type"] == "SPOT" else None,
        "TagSpecifications": [
            {
                "ResourceType": "instance",
                "Tags": [
                    *({"Key": key, "Value": text} for key, text in resources["tags"].items()),
                    {
                        "Key": "AWSBatchServiceTag",
                        "Value": "batch",
                    },
                ],
            }
        ],
    }
    return merge(ec2, request, subnet_id=subnet_id)


def choose_template_version(ec2: Any, environment: ComputeEnvironment) -> None:
    """Resolve the launch template version for new nodes."""
    environment.template_version = None
    specification = _specification(environment)
    if specification is None:
        return
    try:
        tags = merge(ec2, {"LaunchTemplate": specification}).template_tags
    except ServiceException:
        return  # the environment becomes INVALID with the reason
    environment.template_version = tags["aws:ec2launchtemplate:version"]


def problem_of(ec2: Any, environment: ComputeEnvironment) -> str | None:
    """Return why no node of an environment can start, as its status reason; None if it can."""
    resources = environment.resources
    try:
        for instance_type in resources["instanceTypes"]:
            for subnet_id in resources["subnets"]:
                launch = launch_request(ec2, environment, instance_type, subnet_id)
                check_request(ec2, launch)
                user_data: Any = launch.user_data
                if user_data is not None and not _is_multipart(user_data.decode()):
                    return "CLIENT_ERROR - Launch Template UserData is not MIME multipart format"
    except ServiceException as error:
        code, message = code_and_message(error)
        return f"CLIENT_ERROR - {message} (Service: Ec2, Error Code: {code})"
    return None


def launch(ec2: Any, environment: ComputeEnvironment, instance_type: str) -> Node:
    """Launch a node in the first subnet with capacity.

    Raises:
        ServiceException: No subnet has capacity; the reason is that of the first subnet.
    """
    refusal: ServiceException | None = None
    for subnet_id in environment.resources["subnets"]:
        try:
            refuse_scheduled_launch()
            request = launch_request(ec2, environment, instance_type, subnet_id)
            instance = run(ec2, check_launch(ec2, request)).instances[0]
        except ServiceException as error:
            refusal = refusal or error
            continue
        node = Node(instance=instance, generation=environment.generation, idle_since=CLOCK.now())
        environment.nodes.append(node)
        return node
    raise refusal or ServiceException("ValidationError", "The environment has no subnet.")


def terminate(ec2: Any, environment: ComputeEnvironment, node: Node) -> None:
    """Terminate a node; one that EC2 has already terminated is only removed."""
    if is_running(node):
        ec2.terminate_instances([node.instance.id])
    environment.nodes.remove(node)


def is_running(node: Node) -> bool:
    """Return whether the instance is running; the end of a Capacity Block terminates it."""
    return node.instance.state == "running"


def vcpus_of(instance_type: str) -> int:
    """Return the vCPUs of an instance type."""
    return INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"]


def desired_vcpus(environment: ComputeEnvironment) -> int:
    """Return the vCPUs of all nodes of an environment."""
    return sum(vcpus_of(node.instance.instance_type) for node in environment.nodes)


def _is_multipart(user_data: str) -> bool:
    """Return whether a text is MIME multipart, which Batch requires to add its own part."""
    return user_data.lstrip().lower().startswith(_MIME_HEADERS)


def _specification(environment: ComputeEnvironment) -> dict[str, Any] | None:
    given = environment.resources.get("launchTemplate")
    return given and {
        "LaunchTemplateId": given.get("launchTemplateId"),
        "LaunchTemplateName": given.get("launchTemplateName"),
        "Version": environment.template_version or given["version"],
    }


def _template(ec2: Any, environment: ComputeEnvironment) -> Mapping[str, Any]:
    specification = _specification(environment)
    return merge(ec2, {"LaunchTemplate": specification}).parameters if specification else {}


def _image(resources: Fields, template: Mapping[str, Any], instance_type: str) -> str:
    """Return the image: an override, the environment's, the template's, or the ECS default.

    https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html
    """
    configuration = next(iter(resources.get("ec2Configuration") or []), {})
    return (
        configuration.get("imageIdOverride")
        or resources.get("imageId")
        or template.get("ImageId")
        or batch_image_of_type(configuration.get("imageType"), instance_type)
    )


def _profile(instance_role: str) -> dict[str, str]:
    return {"Arn" if instance_role.startswith("arn:") else "Name": instance_role}


def _placement(resources: Fields, template: Mapping[str, Any]) -> dict[str, Any] | None:
    group = resources.get("placementGroup")
    return {**template.get("Placement", {}), "GroupName": group} if group else None
