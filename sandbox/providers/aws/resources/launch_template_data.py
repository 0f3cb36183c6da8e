"""The content of a launch template, between the spelling of pulumi-aws and that of EC2.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FLAG = "flag"
"""pulumi-aws has these as the words `true` and `false`."""
Fields = dict[str, Any]
"""Pulumi name to (EC2 name, how): None as it is, FLAG, a table, or a list of one table."""

EBS: Fields = {
    "deleteOnTermination": ("DeleteOnTermination", FLAG),
    "encrypted": ("Encrypted", FLAG),
    "iops": ("Iops", None),
    "kmsKeyId": ("KmsKeyId", None),
    "snapshotId": ("SnapshotId", None),
    "throughput": ("Throughput", None),
    "volumeSize": ("VolumeSize", None),
    "volumeType": ("VolumeType", None),
}
INTERFACE: Fields = {
    "associatePublicIpAddress": ("AssociatePublicIpAddress", FLAG),
    "deleteOnTermination": ("DeleteOnTermination", FLAG),
    "description": ("Description", None),
    "deviceIndex": ("DeviceIndex", None),
    "interfaceType": ("InterfaceType", None),
    "networkCardIndex": ("NetworkCardIndex", None),
    "securityGroups": ("Groups", None),
    "subnetId": ("SubnetId", None),
}
TARGET: Fields = {
    "capacityReservationId": ("CapacityReservationId", None),
    "capacityReservationResourceGroupArn": ("CapacityReservationResourceGroupArn", None),
}
METADATA: Fields = {
    "httpEndpoint": ("HttpEndpoint", None),
    "httpPutResponseHopLimit": ("HttpPutResponseHopLimit", None),
    "httpTokens": ("HttpTokens", None),
    "instanceMetadataTags": ("InstanceMetadataTags", None),
}
DATA: Fields = {
    "blockDeviceMappings": (
        "BlockDeviceMappings",
        [{"deviceName": ("DeviceName", None), "ebs": ("Ebs", EBS)}],
    ),
    "capacityReservationSpecification": (
        "CapacityReservationSpecification",
        {
            "capacityReservationPreference": ("CapacityReservationPreference", None),
            "capacityReservationTarget": ("CapacityReservationTarget", TARGET),
        },
    ),
    "ebsOptimized": ("EbsOptimized", FLAG),
    "iamInstanceProfile": (
        "IamInstanceProfile",
        {"arn": ("Arn", None), "name": ("Name", None)},
    ),
    "imageId": ("ImageId", None),
    "instanceMarketOptions": ("InstanceMarketOptions", {"marketType": ("MarketType", None)}),
    "instanceType": ("InstanceType", None),
    "keyName": ("KeyName", None),
    "metadataOptions": ("MetadataOptions", METADATA),
    "monitoring": ("Monitoring", {"enabled": ("Enabled", None)}),
    "networkInterfaces": ("NetworkInterfaces", [INTERFACE]),
    "placement": (
        "Placement",
        {"groupName": ("GroupName", None), "availabilityZone": ("AvailabilityZone", None)},
    ),
    "tagSpecifications": (
        "TagSpecifications",
        [{"resourceType": ("ResourceType", None), "tags": ("Tags", "tags")}],
    ),
    "userData": ("UserData", None),
    "vpcSecurityGroupIds": ("SecurityGroupIds", None),
}


def unknown_properties(values: dict[str, Any]) -> list[str]:
    """Return the path of every nested property that the sandbox does not know."""
    known = {key: value for key, value in values.items() if key in DATA}
    return list(_unknown(DATA, known, ""))


def _unknown(fields: Fields, values: Any, where: str) -> Iterator[str]:
    # What is not known yet is a word in place of an object.
    for key, value in values.items() if isinstance(values, dict) else ():
        if key not in fields:
            yield f"{where}{key}"
            continue
        how = fields[key][1]
        if isinstance(how, list):
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from _unknown(how[0], item, f"{where}{key}[{index}].")
        elif isinstance(how, dict):
            yield from _unknown(how, value, f"{where}{key}.")


def to_aws(values: dict[str, Any]) -> dict[str, Any]:
    """Return LaunchTemplateData as EC2 takes it."""
    return _request(DATA, values)


def _request(fields: Fields, values: dict[str, Any]) -> dict[str, Any]:
    return {fields[key][0]: _sent(fields[key][1], value) for key, value in values.items()}


def _sent(how: Any, value: Any) -> Any:
    if how == FLAG:
        return value if isinstance(value, bool) else value == "true"
    if how == "tags":
        return [{"Key": k, "Value": v} for k, v in value.items()]
    if isinstance(how, list):
        return [_request(how[0], item) for item in value]
    if isinstance(how, dict):
        return _request(how, value)
    return value


def from_aws(data: dict[str, Any]) -> dict[str, Any]:
    """Return LaunchTemplateData as pulumi-aws has it."""
    return _response(DATA, data)


def _response(fields: Fields, data: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, (name, how) in fields.items():
        if name in data:
            out[key] = _received(how, data[name])
    return out


def _received(how: Any, value: Any) -> Any:
    if how == FLAG:
        return "true" if value else "false"
    if how == "tags":
        return {tag["Key"]: tag["Value"] for tag in value}
    if isinstance(how, list):
        return [_response(how[0], item) for item in value]
    if isinstance(how, dict):
        return _response(how, value)
    return value
