"""The EC2 instances of the sandbox account, with the properties that affect kubelets."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.faults.schedule import OBSERVER

_EFA_TYPES = ("efa", "efa-only")
_KUBELET = re.compile(r"\(k8s: (\d+\.\d+\.\d+)")
"""Kubelet version in the description of EKS images."""
_DEFAULT_ROOT_VOLUME_GIB = 20
"""Size of the EKS AMI's root volume; used if the account has no volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A running instance."""

    instance_id: str
    instance_type: str
    image_id: str
    region: str
    availability_zone: str
    zone_id: str
    private_dns_name: str
    private_ip_address: str
    efa_interfaces: int
    """Number of interfaces of type `efa` or `efa-only` that are attached."""
    security_group_ids: tuple[str, ...]
    """Security groups of the interfaces with IP addresses, which connect to the API server."""
    instance_profile: str
    """Name of the IAM instance profile; empty without one."""
    root_volume_gib: int
    user_data: bytes
    tags: Mapping[str, str]
    kubelet_version: str = ""
    """From the image's description, such as `1.35.7`; empty if unknown."""

    @property
    def provider_id(self) -> str:
        """Value of the Node's `spec.providerID`."""
        return f"aws:///{self.availability_zone}/{self.instance_id}"


class SandboxAccount:
    """The calls to the sandbox account, which faults do not affect.

    Args:
        endpoint: Endpoint of the account.
        region: Region of the instances.
        running: Returns the ids of all running instances. It reads them from the account in this
            process, because it is called several times per second.
    """

    def __init__(self, endpoint: Endpoint, region: str, running: Callable[[], set[str]]) -> None:
        session = boto3.Session(region_name=region, **endpoint.credentials)
        # The polling loop retries itself and must detect quickly that the server does not respond.
        # A proxy in the user's environment must not be used.
        config = Config(
            retries={"max_attempts": 0},
            connect_timeout=2,
            read_timeout=10,
            proxies={},
            user_agent_extra=OBSERVER,
        )
        self._region = region
        self.running_instance_ids = running
        self._ec2 = session.client("ec2", endpoint_url=endpoint.url, config=config)
        self._eks = session.client("eks", endpoint_url=endpoint.url, config=config)
        self._iam = session.client("iam", endpoint_url=endpoint.url, config=config)

    def instances(self, instance_ids: Iterable[str]) -> list[Instance]:
        """Return instances with all properties that affect their kubelets."""
        pages = self._ec2.get_paginator("describe_instances").paginate(
            InstanceIds=sorted(instance_ids)
        )
        found = [
            instance
            for page in pages
            for reservation in page["Reservations"]
            for instance in reservation["Instances"]
        ]
        zone_ids = self._zone_ids() if found else {}
        kubelets = self._kubelet_versions({instance["ImageId"] for instance in found})
        return [self._instance(each, zone_ids, kubelets[each["ImageId"]]) for each in found]

    def terminate(self, instance_id: str) -> None:
        """Terminate an instance, as Auto Scaling does with one that fails its status checks."""
        self._ec2.terminate_instances(InstanceIds=[instance_id])

    def role_arn(self, instance_profile: str) -> str | None:
        """Return the role of an instance profile; None if it has no role."""
        profile = self._iam.get_instance_profile(InstanceProfileName=instance_profile)
        roles = profile["InstanceProfile"]["Roles"]
        return roles[0]["Arn"] if roles else None

    def node_group(self, cluster: str, name: str) -> dict[str, Any]:
        """Return EKS's description of a managed node group."""
        return self._eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]

    def cluster(self, name: str) -> dict[str, Any]:
        """Return EKS's description of a cluster."""
        return self._eks.describe_cluster(name=name)["cluster"]

    def ingress_rules(self, security_group_id: str) -> list[dict[str, Any]]:
        """Return the ingress rules of a security group, as EC2's `IpPermissions`."""
        groups = self._ec2.describe_security_groups(GroupIds=[security_group_id])
        return groups["SecurityGroups"][0]["IpPermissions"]

    def _zone_ids(self) -> dict[str, str]:
        zones = self._ec2.describe_availability_zones()["AvailabilityZones"]
        return {zone["ZoneName"]: zone["ZoneId"] for zone in zones}

    def _kubelet_versions(self, image_ids: set[str]) -> dict[str, str]:
        """Return the kubelet version by image; empty if the image does not contain it."""
        versions = dict.fromkeys(image_ids, "")
        if not image_ids:
            return versions
        # A filter, because ImageIds fails completely if one image does not exist.
        wanted = [{"Name": "image-id", "Values": sorted(image_ids)}]
        for image in self._ec2.describe_images(Filters=wanted)["Images"]:
            told = _KUBELET.search(image.get("Description") or "")
            versions[image["ImageId"]] = told.group(1) if told else ""
        return versions

    def _instance(
        self, found: Mapping[str, Any], zone_ids: Mapping[str, str], kubelet_version: str
    ) -> Instance:
        zone = found["Placement"]["AvailabilityZone"]
        interfaces = found.get("NetworkInterfaces") or []
        efa = [i for i in interfaces if i.get("InterfaceType") in _EFA_TYPES]
        addressed = [i for i in interfaces if i.get("PrivateIpAddress")]
        groups = {group["GroupId"] for i in addressed for group in i.get("Groups") or []}
        profile = (found.get("IamInstanceProfile") or {}).get("Arn") or ""
        return Instance(
            instance_id=found["InstanceId"],
            instance_type=found["InstanceType"],
            image_id=found["ImageId"],
            region=self._region,
            availability_zone=zone,
            zone_id=zone_ids.get(zone, ""),
            private_dns_name=found["PrivateDnsName"],
            private_ip_address=found["PrivateIpAddress"],
            efa_interfaces=len(efa),
            security_group_ids=tuple(sorted(groups)),
            instance_profile=profile.rpartition("/")[2],
            root_volume_gib=self._root_volume_gib(found),
            user_data=self._user_data(found["InstanceId"]),
            tags={tag["Key"]: tag["Value"] for tag in found.get("Tags") or []},
            kubelet_version=kubelet_version,
        )

    def _user_data(self, instance_id: str) -> bytes:
        """Return the user data, decoded from the API's base64."""
        answer = self._ec2.describe_instance_attribute(InstanceId=instance_id, Attribute="userData")
        return base64.b64decode((answer.get("UserData") or {}).get("Value") or "")

    def _root_volume_gib(self, found: Mapping[str, Any]) -> int:
        root = found.get("RootDeviceName")
        for mapping in found.get("BlockDeviceMappings") or []:
            if mapping.get("DeviceName") == root and "Ebs" in mapping:
                with contextlib.suppress(ClientError):  # the instance has been deleted meanwhile
                    ids = [mapping["Ebs"]["VolumeId"]]
                    return self._ec2.describe_volumes(VolumeIds=ids)["Volumes"][0]["Size"]
        return _DEFAULT_ROOT_VOLUME_GIB
