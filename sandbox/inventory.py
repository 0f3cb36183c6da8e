"""All objects in a sandbox, one per line, so that two points in time can be compared.

No line contains a time, a transient state, or an unstable order. Terminated instances are omitted,
although EC2 describes them for an hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.aws.ec2.capacity_block_terms import bought_count
from trainyard.sandbox.faults.schedule import OBSERVER
from trainyard.sandbox.kubernetes.control_planes import Layout
from trainyard.sandbox.kubernetes.inventory import lines as cluster_lines
from trainyard.sandbox.state import SandboxDirectory, SandboxError


class Clients:
    """boto3 clients of a sandbox.

    Args:
        endpoint: The sandbox's AWS endpoint.
        region: Its region.
    """

    def __init__(self, endpoint: Endpoint, region: str) -> None:
        self._session = boto3.Session(region_name=region, **endpoint.credentials)
        self._endpoint = endpoint.url
        self.client = cache(self._client)

    def _client(self, service: str) -> Any:
        settings = Config(retries={"total_max_attempts": 1}, user_agent_extra=OBSERVER)
        return self._session.client(service, endpoint_url=self._endpoint, config=settings)

    def every(self, service: str, call: str, key: str, **arguments: Any) -> Iterator[Any]:
        """Yield every element of a paginated list operation."""
        client = self.client(service)
        if not client.can_paginate(call):
            yield from getattr(client, call)(**arguments)[key]
            return
        for answer in client.get_paginator(call).paginate(**arguments):
            yield from answer[key]


@cache
def clients_of(endpoint: Endpoint, region: str) -> Clients:
    """Return the cached clients of a sandbox; creating one takes longer than all its calls."""
    return Clients(endpoint, region)


@dataclass(frozen=True)
class Item:
    """An object."""

    kind: str
    """Service and kind: `ec2:subnet`."""
    identifier: str
    """Id or name, unique within its kind."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Distinguishing details; None, empty strings and empty lists are omitted."""

    @property
    def line(self) -> str:
        """`ec2:subnet subnet-0a… zone=us-west-2a cidr=10.0.0.0/20`."""
        shown = [f"{key}={_text(value)}" for key, value in self.details.items() if _is_given(value)]
        return " ".join([self.kind, self.identifier, *shown])


def tags(described: Iterable[Mapping[str, str]] | None) -> list[str]:
    """Return `key:value` of each tag, sorted, without the tags that AWS sets."""
    return sorted(
        f"{tag['Key']}:{tag['Value']}"
        for tag in described or []
        if not tag["Key"].startswith("aws:")
    )


def _is_given(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(each) for each in value)
    return str(value)


def _network_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's network objects."""
    yield from _vpcs(clients)
    yield from _routes(clients)
    yield from _gateways(clients)
    yield from _security_groups(clients)
    yield from _interfaces(clients)


def _vpcs(clients: Clients) -> Iterator[Item]:
    for vpc in clients.every("ec2", "describe_vpcs", "Vpcs"):
        further = [block["CidrBlock"] for block in vpc.get("CidrBlockAssociationSet", [])]
        details = {
            "cidr": vpc["CidrBlock"],
            "further": sorted(set(further) - {vpc["CidrBlock"]}),
            "tags": tags(vpc.get("Tags")),
        }
        yield Item("ec2:vpc", vpc["VpcId"], details)
    for subnet in clients.every("ec2", "describe_subnets", "Subnets"):
        yield Item(
            "ec2:subnet",
            subnet["SubnetId"],
            {
                "vpc": subnet["VpcId"],
                "zone": subnet["AvailabilityZone"],
                "cidr": subnet["CidrBlock"],
                "public-addresses": subnet["MapPublicIpOnLaunch"] or None,
                "free": subnet["AvailableIpAddressCount"],
                "tags": tags(subnet.get("Tags")),
            },
        )
    for endpoint in clients.every("ec2", "describe_vpc_endpoints", "VpcEndpoints"):
        details = {
            "service": endpoint["ServiceName"],
            "vpc": endpoint["VpcId"],
            "subnets": sorted(endpoint.get("SubnetIds", [])),
            "tables": sorted(endpoint.get("RouteTableIds", [])),
            "tags": tags(endpoint.get("Tags")),
        }
        yield Item("ec2:vpc-endpoint", endpoint["VpcEndpointId"], details)
    for log in clients.every("ec2", "describe_flow_logs", "FlowLogs"):
        details = {
            "vpc": log["ResourceId"],
            "group": log.get("LogGroupName"),
            "tags": tags(log.get("Tags")),
        }
        yield Item("ec2:flow-log", log["FlowLogId"], details)


def _routes(clients: Clients) -> Iterator[Item]:
    for table in clients.every("ec2", "describe_route_tables", "RouteTables"):
        subnets = [each.get("SubnetId", "") for each in table["Associations"]]
        yield Item(
            "ec2:route-table",
            table["RouteTableId"],
            {
                "vpc": table["VpcId"],
                "subnets": sorted(filter(None, subnets)),
                "routes": sorted(_route(route) for route in table["Routes"]),
                "tags": tags(table.get("Tags")),
            },
        )


def _route(route: Mapping[str, Any]) -> str:
    to = route.get("DestinationCidrBlock") or route.get("DestinationPrefixListId", "")
    through = route.get("GatewayId") or route.get("NatGatewayId") or route.get("NetworkInterfaceId")
    return f"{to}->{through}"


def _gateways(clients: Clients) -> Iterator[Item]:
    for gateway in clients.every("ec2", "describe_internet_gateways", "InternetGateways"):
        vpcs = sorted(each["VpcId"] for each in gateway["Attachments"])
        details = {"vpcs": vpcs, "tags": tags(gateway.get("Tags"))}
        yield Item("ec2:internet-gateway", gateway["InternetGatewayId"], details)
    for gateway in clients.every("ec2", "describe_nat_gateways", "NatGateways"):
        if gateway["State"] not in ("deleted", "deleting"):
            details = {"subnet": gateway["SubnetId"], "tags": tags(gateway.get("Tags"))}
            yield Item("ec2:nat-gateway", gateway["NatGatewayId"], details)
    for address in clients.every("ec2", "describe_addresses", "Addresses"):
        details = {"address": address["PublicIp"], "tags": tags(address.get("Tags"))}
        yield Item("ec2:elastic-ip", address["AllocationId"], details)


def _security_groups(clients: Clients) -> Iterator[Item]:
    for group in clients.every("ec2", "describe_security_groups", "SecurityGroups"):
        details = {
            "name": group["GroupName"],
            "vpc": group["VpcId"],
            "tags": tags(group.get("Tags")),
        }
        yield Item("ec2:security-group", group["GroupId"], details)
    for rule in clients.every("ec2", "describe_security_group_rules", "SecurityGroupRules"):
        peer = (
            rule.get("CidrIpv4")
            or rule.get("CidrIpv6")
            or rule.get("PrefixListId")
            or (rule.get("ReferencedGroupInfo") or {}).get("GroupId")
        )
        ports = f"{rule.get('FromPort', -1)}-{rule.get('ToPort', -1)}"
        details = {
            "group": rule["GroupId"],
            "direction": "egress" if rule["IsEgress"] else "ingress",
            "protocol": rule["IpProtocol"],
            "ports": None if ports == "-1--1" else ports,
            "peer": peer,
            "tags": tags(rule.get("Tags")),
        }
        yield Item("ec2:security-group-rule", rule["SecurityGroupRuleId"], details)


def _interfaces(clients: Clients) -> Iterator[Item]:
    for each in clients.every("ec2", "describe_network_interfaces", "NetworkInterfaces"):
        attachment = each.get("Attachment") or {}
        yield Item(
            "ec2:network-interface",
            each["NetworkInterfaceId"],
            {
                "type": each.get("InterfaceType"),
                "subnet": each["SubnetId"],
                "instance": attachment.get("InstanceId"),
                "card": attachment.get("NetworkCardIndex") if attachment else None,
                "device": attachment.get("DeviceIndex") if attachment else None,
                "groups": sorted(group["GroupId"] for group in each.get("Groups", [])),
            },
        )


_GONE = ("terminated", "shutting-down")


def _machine_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's compute resources."""
    yield from _instances(clients)
    yield from _templates(clients)
    yield from _capacity(clients)
    yield from _autoscaling(clients)


def _instances(clients: Clients) -> Iterator[Item]:
    for reservation in clients.every("ec2", "describe_instances", "Reservations"):
        for each in reservation["Instances"]:
            if each["State"]["Name"] in _GONE:
                continue
            yield Item(
                "ec2:instance",
                each["InstanceId"],
                {
                    "type": each["InstanceType"],
                    "subnet": each.get("SubnetId"),
                    "reservation": each.get("CapacityReservationId"),
                    "placement-group": each["Placement"].get("GroupName"),
                    "tags": tags(each.get("Tags")),
                },
            )
    for volume in clients.every("ec2", "describe_volumes", "Volumes"):
        details = {
            "size": f"{volume['Size']}GiB",
            "type": volume.get("VolumeType"),
            "encrypted": volume["Encrypted"],
            "instances": sorted(each["InstanceId"] for each in volume["Attachments"]),
        }
        yield Item("ec2:volume", volume["VolumeId"], details)


def _templates(clients: Clients) -> Iterator[Item]:
    for template in clients.every("ec2", "describe_launch_templates", "LaunchTemplates"):
        details = {
            "name": template["LaunchTemplateName"],
            "versions": template["LatestVersionNumber"],
            "default": template["DefaultVersionNumber"],
            "tags": tags(template.get("Tags")),
        }
        yield Item("ec2:launch-template", template["LaunchTemplateId"], details)
    for pair in clients.every("ec2", "describe_key_pairs", "KeyPairs"):
        yield Item("ec2:key-pair", pair["KeyPairId"], {"name": pair["KeyName"]})


def _capacity(clients: Clients) -> Iterator[Item]:
    for group in clients.every("ec2", "describe_placement_groups", "PlacementGroups"):
        details = {
            "name": group["GroupName"],
            "strategy": group["Strategy"],
            "tags": tags(group.get("Tags")),
        }
        yield Item("ec2:placement-group", group["GroupId"], details)
    calls = clients.every("ec2", "describe_capacity_reservations", "CapacityReservations")
    for each in calls:
        if each["State"] == "cancelled":
            continue
        details = {
            "kind": each["ReservationType"],
            "type": each["InstanceType"],
            "zone": each["AvailabilityZone"],
            "count": bought_count(each),
            "used": _used(each),
            "owner": each["OwnerId"],
            "tags": tags(each.get("Tags")),
        }
        yield Item("ec2:capacity-reservation", each["CapacityReservationId"], details)
    for group in clients.every("resource-groups", "list_groups", "GroupIdentifiers"):
        members = clients.client("resource-groups").list_group_resources(Group=group["GroupName"])
        arns = sorted(each["ResourceArn"] for each in members["ResourceIdentifiers"])
        yield Item("resource-groups:group", group["GroupName"], {"members": arns})


def _used(reservation: Mapping[str, Any]) -> int | None:
    """Return the number of instances in use; None if 0, like a reservation never used."""
    if reservation["State"] != "active":
        return None
    return reservation["TotalInstanceCount"] - reservation["AvailableInstanceCount"] or None


def _autoscaling(clients: Clients) -> Iterator[Item]:
    for group in clients.every("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups"):
        template = group.get("LaunchTemplate") or {}
        yield Item(
            "autoscaling:group",
            group["AutoScalingGroupName"],
            {
                "minimum": group["MinSize"],
                "desired": group["DesiredCapacity"],
                "maximum": group["MaxSize"],
                "template": template.get("LaunchTemplateId"),
                "version": template.get("Version"),
                "subnets": group.get("VPCZoneIdentifier"),
                "instances": len(group["Instances"]),
                "tags": tags(group.get("Tags")),
            },
        )
        yield from _hooks(clients, group["AutoScalingGroupName"])
    actions = clients.every(
        "autoscaling", "describe_scheduled_actions", "ScheduledUpdateGroupActions"
    )
    for action in actions:
        details = {
            "group": action["AutoScalingGroupName"],
            "minimum": action.get("MinSize"),
            "desired": action.get("DesiredCapacity"),
            "maximum": action.get("MaxSize"),
        }
        yield Item("autoscaling:scheduled-action", action["ScheduledActionName"], details)


def _hooks(clients: Clients, group: str) -> Iterator[Item]:
    described = clients.client("autoscaling").describe_lifecycle_hooks(AutoScalingGroupName=group)
    for hook in described["LifecycleHooks"]:
        details = {"group": group, "seconds": hook["HeartbeatTimeout"]}
        yield Item("autoscaling:lifecycle-hook", hook["LifecycleHookName"], details)


def _container_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's clusters with related objects, and the log groups."""
    for name in clients.every("eks", "list_clusters", "clusters"):
        yield from _cluster(clients, name)
    for group in clients.every("logs", "describe_log_groups", "logGroups"):
        details = {"retention": group.get("retentionInDays")}
        yield Item("logs:log-group", group["logGroupName"], details)


def _cluster(clients: Clients, name: str) -> Iterator[Item]:
    eks = clients.client("eks")
    cluster = eks.describe_cluster(name=name)["cluster"]
    mode = cluster["accessConfig"]["authenticationMode"]
    details = {
        "version": cluster["version"],
        "mode": mode,
        "subnets": sorted(cluster["resourcesVpcConfig"]["subnetIds"]),
        "tags": _tags(cluster["tags"]),
    }
    yield Item("eks:cluster", name, details)
    for group_name in clients.every("eks", "list_nodegroups", "nodegroups", clusterName=name):
        group = eks.describe_nodegroup(clusterName=name, nodegroupName=group_name)["nodegroup"]
        details = {
            "minimum": group["scalingConfig"]["minSize"],
            "desired": group["scalingConfig"]["desiredSize"],
            "maximum": group["scalingConfig"]["maxSize"],
            "capacity": group["capacityType"],
            "tags": _tags(group["tags"]),
        }
        yield Item("eks:node-group", f"{name}/{group_name}", details)
    for addon_name in clients.every("eks", "list_addons", "addons", clusterName=name):
        addon = eks.describe_addon(clusterName=name, addonName=addon_name)["addon"]
        yield Item("eks:addon", f"{name}/{addon_name}", {"version": addon["addonVersion"]})
    for association in clients.every(
        "eks", "list_pod_identity_associations", "associations", clusterName=name
    ):
        account = f"{association['namespace']}/{association['serviceAccount']}"
        details = {"owner": association.get("ownerArn")}
        yield Item("eks:pod-identity-association", f"{name}/{account}", details)
    if mode == "CONFIG_MAP" or cluster["status"] != "ACTIVE":
        return
    for principal in clients.every("eks", "list_access_entries", "accessEntries", clusterName=name):
        entry = eks.describe_access_entry(clusterName=name, principalArn=principal)["accessEntry"]
        details = {"type": entry["type"], "groups": sorted(entry["kubernetesGroups"])}
        yield Item("eks:access-entry", f"{name}/{principal}", details)


def _tags(described: dict[str, Any]) -> list[str]:
    return sorted(f"{key}:{value}" for key, value in described.items())


def _batch_items(clients: Clients) -> Iterator[Item]:
    """Yield compute environments, job queues, job definitions and repositories."""
    calls = clients.every("batch", "describe_compute_environments", "computeEnvironments")
    for each in calls:
        resources = each["computeResources"]
        details = {
            "type": resources["type"],
            "instances": sorted(resources["instanceTypes"]),
            "minimum": resources["minvCpus"],
            "maximum": resources["maxvCpus"],
            "template": (resources.get("launchTemplate") or {}).get("launchTemplateId"),
            "version": (resources.get("launchTemplate") or {}).get("version"),
            "subnets": sorted(resources["subnets"]),
            "state": each["state"],
            "status": each["status"],
            "tags": _given_tags(each.get("tags")),
        }
        yield Item("batch:compute-environment", each["computeEnvironmentName"], details)
    for each in clients.every("batch", "describe_job_queues", "jobQueues"):
        details = {
            "priority": each["priority"],
            "environments": [
                entry["computeEnvironment"].rpartition("/")[2]
                for entry in each["computeEnvironmentOrder"]
            ],
            "state": each["state"],
            "tags": _given_tags(each.get("tags")),
        }
        yield Item("batch:job-queue", each["jobQueueName"], details)
    yield from _definitions(clients)
    yield from _repositories(clients)


def _definitions(clients: Clients) -> Iterator[Item]:
    """Yield the active job definitions; a deregistered one counts as deleted."""
    calls = clients.every("batch", "describe_job_definitions", "jobDefinitions", status="ACTIVE")
    for each in calls:
        details = {
            "type": each["type"],
            "nodes": (each.get("nodeProperties") or {}).get("numNodes"),
            "tags": _given_tags(each.get("tags")),
        }
        yield Item(
            "batch:job-definition", f"{each['jobDefinitionName']}:{each['revision']}", details
        )


def _repositories(clients: Clients) -> Iterator[Item]:
    ecr = clients.client("ecr")
    for each in clients.every("ecr", "describe_repositories", "repositories"):
        details = {
            "mutability": each["imageTagMutability"],
            "scan": each["imageScanningConfiguration"]["scanOnPush"],
            "encryption": each["encryptionConfiguration"]["encryptionType"],
            "tags": tags(ecr.list_tags_for_resource(resourceArn=each["repositoryArn"])["tags"]),
        }
        yield Item("ecr:repository", each["repositoryName"], details)


def _given_tags(described: Mapping[str, str] | None) -> list[str]:
    return sorted(f"{key}:{value}" for key, value in (described or {}).items())


_CONFIGURATIONS = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}
"""Fields of FSx responses that are specific to a type of file system."""


def _storage_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's file systems with related objects, and its buckets."""
    yield from _fsx(clients)
    yield from _efs(clients)
    for bucket in clients.client("s3").list_buckets()["Buckets"]:
        yield Item("s3:bucket", bucket["Name"], {})


def _fsx(clients: Clients) -> Iterator[Item]:
    for system in clients.every("fsx", "describe_file_systems", "FileSystems"):
        details = {
            "type": system["FileSystemType"],
            "deployment": system[_CONFIGURATIONS[system["FileSystemType"]]]["DeploymentType"],
            "capacity": system["StorageCapacity"],
            "subnets": system["SubnetIds"],
            "interfaces": sorted(system["NetworkInterfaceIds"]),
            "tags": tags(system.get("Tags")),
        }
        yield Item("fsx:file-system", system["FileSystemId"], details)
    for volume in clients.every("fsx", "describe_volumes", "Volumes"):
        details = {"type": volume["VolumeType"], "file-system": volume["FileSystemId"]}
        yield Item("fsx:volume", volume["VolumeId"], details)
    associations = clients.client("fsx").describe_data_repository_associations()["Associations"]
    for each in associations:
        details = {
            "file-system": each["FileSystemId"],
            "path": each["FileSystemPath"],
            "s3": each["DataRepositoryPath"],
        }
        yield Item("fsx:data-repository-association", each["AssociationId"], details)


def _efs(clients: Clients) -> Iterator[Item]:
    client = clients.client("efs")
    for system in clients.every("efs", "describe_file_systems", "FileSystems"):
        identifier = system["FileSystemId"]
        targets = client.describe_mount_targets(FileSystemId=identifier)["MountTargets"]
        details = {
            "throughput": system["ThroughputMode"],
            "subnets": sorted(target["SubnetId"] for target in targets),
            "tags": tags(system.get("Tags")),
        }
        yield Item("efs:file-system", identifier, details)


def _permission_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's IAM objects."""
    iam = clients.client("iam")
    for role in clients.every("iam", "list_roles", "Roles"):
        name = role["RoleName"]
        attached = clients.every(
            "iam", "list_attached_role_policies", "AttachedPolicies", RoleName=name
        )
        inline = clients.every("iam", "list_role_policies", "PolicyNames", RoleName=name)
        details = {
            "path": role["Path"],
            "policies": sorted(policy["PolicyArn"] for policy in attached),
            "inline": sorted(inline),
            "tags": tags(iam.list_role_tags(RoleName=name)["Tags"]),
        }
        yield Item("iam:role", name, details)
    for profile in clients.every("iam", "list_instance_profiles", "InstanceProfiles"):
        roles = sorted(role["RoleName"] for role in profile["Roles"])
        yield Item("iam:instance-profile", profile["InstanceProfileName"], {"roles": roles})
    for policy in clients.every("iam", "list_policies", "Policies", Scope="Local"):
        yield Item("iam:policy", policy["PolicyName"], {"path": policy["Path"]})
    for user in clients.every("iam", "list_users", "Users"):
        yield Item("iam:user", user["UserName"])
    for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
        yield Item("iam:oidc-provider", provider["Arn"])


def _monitoring_items(clients: Clients) -> Iterator[Item]:
    """Yield what watches the account and where it sends messages."""
    yield from _metrics(clients)
    yield from _messages(clients)


def _metrics(clients: Clients) -> Iterator[Item]:
    for board in clients.every("cloudwatch", "list_dashboards", "DashboardEntries"):
        yield Item("cloudwatch:dashboard", board["DashboardName"])
    for alarm in clients.every("cloudwatch", "describe_alarms", "MetricAlarms"):
        details = {
            "threshold": alarm["Threshold"],
            "periods": alarm["EvaluationPeriods"],
            "actions": alarm["AlarmActions"],
        }
        yield Item("cloudwatch:alarm", alarm["AlarmName"], details)
    for each in clients.every("logs", "describe_metric_filters", "metricFilters"):
        name = f"{each['logGroupName']}/{each['filterName']}"
        yield Item("logs:metric-filter", name, {"pattern": each["filterPattern"]})
    for each in clients.every("ssm", "list_associations", "Associations"):
        yield Item("ssm:association", each["AssociationName"], {"targets": each["Targets"]})
    for scraper in clients.every("amp", "list_scrapers", "scrapers"):
        details = {"source": scraper["source"], "destination": scraper["destination"]}
        yield Item("aps:scraper", scraper["scraperId"], details)
    for workspace in clients.every("amp", "list_workspaces", "workspaces"):
        where = {"workspaceId": workspace["workspaceId"]}
        for rules in clients.every(
            "amp", "list_rule_groups_namespaces", "ruleGroupsNamespaces", **where
        ):
            yield Item("aps:rules", rules["name"], where)


def _messages(clients: Clients) -> Iterator[Item]:
    for rule in clients.every("events", "list_rules", "Rules"):
        yield Item("events:rule", rule["Name"], {"pattern": rule.get("EventPattern")})
    for schedule in clients.every("scheduler", "list_schedules", "Schedules"):
        name = {"GroupName": schedule["GroupName"], "Name": schedule["Name"]}
        described = clients.client("scheduler").get_schedule(**name)
        details = {"at": described["ScheduleExpression"], "target": described["Target"]["Arn"]}
        yield Item("scheduler:schedule", "/".join(name.values()), details)
    for topic in clients.every("sns", "list_topics", "Topics"):
        yield Item("sns:topic", topic["TopicArn"])
    for each in clients.every("sns", "list_subscriptions", "Subscriptions"):
        details = {"topic": each["TopicArn"], "protocol": each["Protocol"]}
        yield Item("sns:subscription", f"{each['TopicArn']}/{each['Endpoint']}", details)


def _stack_items(clients: Clients) -> Iterator[Item]:
    """Yield the account's stacks, including nested ones; deleted stacks are omitted."""
    for stack in clients.every("cloudformation", "describe_stacks", "Stacks"):
        if stack["StackStatus"] == "DELETE_COMPLETE":
            continue
        details = {
            "description": stack.get("Description"),
            "failed": _has_failed(stack["StackStatus"]) or None,
            "parent": _name(stack.get("ParentId", "")),
            "tags": tags(stack.get("Tags")),
        }
        yield Item("cloudformation:stack", stack["StackName"], details)


def _has_failed(status: str) -> bool:
    """Return whether a stack failed to be created or updated."""
    return status.startswith("ROLLBACK_") or status.endswith("_FAILED")


def _name(stack_id: str) -> str:
    """Return the name in a stack's ARN; the rest is random."""
    return stack_id.partition(":stack/")[2].partition("/")[0]


def account_items(clients: Clients) -> Iterator[Item]:
    """Yield all objects in the account."""
    compute = (_machine_items, _permission_items, _container_items, _batch_items)
    for items_of in (_network_items, *compute, _storage_items, _stack_items, _monitoring_items):
        yield from items_of(clients)


__all__ = ["Item", "items", "lines"]


def lines(directory: SandboxDirectory) -> list[str]:
    """Return a line for every object in the account and in each cluster, sorted.

    Raises:
        SandboxError: No sandbox is running in the directory.
    """
    return sorted(item.line for item in items(directory))


def items(directory: SandboxDirectory) -> list[Item]:
    """Return every object in the account and in each cluster.

    Raises:
        SandboxError: No sandbox is running in the directory.
    """
    status = directory.read_status()
    if status is None:
        raise SandboxError(f"no sandbox runs in {directory.path}, so there is nothing to list")
    clients = clients_of(status.endpoint, status.region)
    found = list(account_items(clients))
    for name, kubeconfig in _kubeconfigs(directory, clients).items():
        found.extend(_cluster_items(name, kubeconfig))
    return found


def _kubeconfigs(directory: SandboxDirectory, clients: Clients) -> Mapping[str, Path]:
    """Return the administrator's kubeconfig of every cluster that has a control plane."""
    eks = clients.client("eks")
    names = [
        name
        for name in eks.list_clusters()["clusters"]
        if eks.describe_cluster(name=name)["cluster"]["status"] == "ACTIVE"
    ]
    paths = {name: Layout(directory.clusters / name).kubeconfig for name in names}
    return {name: path for name, path in paths.items() if path.exists()}


def _cluster_items(cluster: str, kubeconfig: Path) -> Iterator[Item]:
    for line in cluster_lines(kubeconfig):
        kind, _, name = line.partition(" ")
        yield Item(f"kubernetes:{kind}", name, {"cluster": cluster})
