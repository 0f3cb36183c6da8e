"""A CloudFormation template as a stack file: its VPC, and its objects of AWS Batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from trainyard.components.catalog.regions import zone_region
from trainyard.components.config.network import EndpointService
from trainyard.importing.cloudformation.environments import (
    entry_name,
    read_environment,
    read_policies,
    read_queues,
    why_renamed,
)
from trainyard.importing.cloudformation.evaluation import Evaluation
from trainyard.importing.cloudformation.jobs import (
    MOST_NODES,
    environment_of,
    example_type,
    read_job,
)
from trainyard.importing.cloudformation.template import (
    TYPES,
    Resource,
    Template,
    TemplateKeys,
    claim_branches,
    claim_origins,
    claim_unknown,
    is_known,
    read_parameter_files,
    read_template,
    take_ids,
    take_known,
    why_unknown,
)
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.formats import CLUSTER_IN_TEMPLATE, cluster_of_cloudformation
from trainyard.importing.key_table import keys_beside
from trainyard.importing.report import OutcomeTable, Reader, outcomes_beside
from trainyard.importing.source import Document, Location, id_for, leaves

_SERVICE = re.compile(r"com\.amazonaws\.(?:\$\{AWS::Region\}|[a-z0-9-]+)\.(?P<name>[\w.-]+)")
"""https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html"""
_GATEWAYS = ("s3", "dynamodb")


def _take_endpoint(network: Draft, service: Reader, kind: Reader) -> Location | None:
    """Add an endpoint to a network, and return its place; None for one that stacks do not have.

    Args:
        network: The section of the stack file.
        service: Name of the service: `com.amazonaws.us-west-2.s3`.
        kind: Type of the endpoint; `Gateway` without one.
    """
    match = _SERVICE.fullmatch(str(service.value))
    is_gateway = str(kind.value or "Gateway") == "Gateway"
    key, known = (
        ("gateway_endpoints", _GATEWAYS)
        if is_gateway
        else ("interface_endpoints", get_args(EndpointService))
    )
    if match is None or match["name"] not in known:
        return None
    names = network.values.setdefault(key, [])
    if match["name"] not in names:
        names.append(match["name"])
    place = (*network.at, key, names.index(match["name"]))
    service.claim("taken over", ours=place)
    return place


_ANYWHERE = ("0.0.0.0/0", "::/0")
_KEPT_DAYS = 7
"""Days for which a stack keeps flow logs."""


def _read_network(template: Template, stack: StackDraft) -> None:
    """Read the VPC that a template creates, or the ids of one that exists."""
    vpcs = [*template.of("AWS::EC2::VPC")]
    if not vpcs:
        _read_existing(template, stack.cluster.section("network"))
        return
    vpc, *others = vpcs
    for other in others:
        other.source.unsupported("a stack has one VPC: import the template of each on its own")
    network = stack.cluster.section("network", vpc.source)
    network.put("kind", "new-vpc")
    vpc.claim_made((*network.at, "kind"))
    for key in ("EnableDnsSupport", "EnableDnsHostnames"):
        if str(vpc.at(key).flag).lower() == "false":
            vpc.at(key).claim("taken over better", "EFA, EKS and storage need names in the VPC")
    take_known(network, "cidr", vpc.at("CidrBlock"))
    blocks = [each for each in template.of("AWS::EC2::VPCCidrBlock") if each.at("CidrBlock").exists]
    _take_list(network, "secondary_cidrs", [each.at("CidrBlock") for each in blocks])
    for block in blocks:
        block.claim_made((*network.at, "secondary_cidrs"))
    found = template.of("AWS::EC2::Subnet")
    subnets = [_Subnet(each, _is_public(each, template)) for each in found]
    _read_subnets(subnets, network, stack)
    _read_gateways(template, subnets, network)
    _read_endpoints(template, network)
    _read_flow_logs(template, network)


def _read_existing(template: Template, network: Draft) -> None:
    network.put("kind", "existing-vpc")
    network.put("public_subnet_ids", [])
    given = [
        each.at("VpcId") for each in template.of("AWS::EC2::SecurityGroup", "AWS::EC2::Subnet")
    ]
    for vpc in given:
        if network.has("vpc_id"):
            vpc.implied("it is the VPC of the stack")
        elif is_known(vpc):
            network.take_id("vpc_id", vpc, "vpc")
        else:
            claim_unknown(vpc, (*network.at, "vpc_id"))
    for environment in template.of("AWS::Batch::ComputeEnvironment"):
        subnets = [*environment.at("ComputeResources", "Subnets").items()]
        take_ids(network, "private_subnet_ids", subnets, "subnet")
    network.needs("vpc_id", id_for("vpc"))
    network.needs("private_subnet_ids", [id_for("subnet", 1)])


@dataclass(frozen=True, slots=True)
class _Subnet:
    resource: Resource
    public: bool

    @property
    def zone(self) -> Reader:
        """The zone, by name or by id."""
        return _zone_of(self.resource)


def _zone_of(subnet: Resource) -> Reader:
    """Return the zone of a subnet, by name or by id."""
    by_name = subnet.at("AvailabilityZone")
    return by_name if by_name.exists else subnet.at("AvailabilityZoneId")


def _is_public(subnet: Resource, template: Template) -> bool:
    """Return whether a subnet gives its instances addresses, or routes to an internet gateway."""
    if str(subnet.at("MapPublicIpOnLaunch").flag).lower() == "true":
        return True
    tables = {
        str(each.at("RouteTableId").value)
        for each in template.of("AWS::EC2::SubnetRouteTableAssociation")
        if template.named_by(each.at("SubnetId")) is subnet
    }
    return any(
        str(route.at("RouteTableId").value) in tables
        for route in template.of("AWS::EC2::Route")
        if _leads_out(route, "GatewayId")
    )


def _leads_out(route: Resource, way: str) -> bool:
    destinations = (route.at("DestinationCidrBlock"), route.at("DestinationIpv6CidrBlock"))
    return route.at(way).exists and any(each.value in _ANYWHERE for each in destinations)


def _read_subnets(subnets: Sequence[_Subnet], network: Draft, stack: StackDraft) -> None:
    """Read zones and addresses: each zone has a private subnet, and each or none a public one."""
    zones: dict[str, list[_Subnet]] = {}
    for public in (False, True):
        for number, subnet in enumerate(each for each in subnets if each.public is public):
            zone = str(subnet.zone.value) if subnet.zone.exists else f"${{zone[{number}]}}"
            zones.setdefault(zone, []).append(subnet)
    _read_zones(zones, network, stack)
    if not any(each.public for each in subnets) and subnets:
        network.put("public_subnets", value=False)
    # The addresses of one kind could overlap those that a stack gives to the other.
    kinds = (False, True) if any(each.public for each in subnets) else (False,)
    fits = all(
        [each.public for each in zone].count(public) == 1
        for zone in zones.values()
        for public in kinds
    )
    for public, key in ((True, "public_subnet_cidrs"), (False, "private_subnet_cidrs")):
        of_kind = [each for zone in zones.values() for each in zone if each.public is public]
        cidrs = [each.resource.at("CidrBlock") for each in of_kind]
        if fits and all(map(is_known, cidrs)):
            _take_list(network, key, cidrs)
            for number, each in enumerate(of_kind):
                each.resource.claim_made((*network.at, key, number))
        for cidr in cidrs:
            cidr.unsupported(
                why_unknown(cidr.value)
                or f"each zone of a stack has a private subnet, and each or none a public one: "
                f"set `{key}`, one for each of `availability_zones`, or leave it to `addresses`"
            )


def _read_zones(zones: dict[str, list[_Subnet]], network: Draft, stack: StackDraft) -> None:
    named = {str(each.zone.value): each.zone for zone in zones.values() for each in zone}
    # What the template says of its zones is so in whatever region the command is told.
    of_zones = (zone_region(zone) for zone in named)
    stack.region = next((each for each in of_zones if each), stack.region)
    unknown = [zone for zone in zones if zone not in named or not is_known(named[zone])]
    for subnet in (each for zone in zones.values() for each in zone):
        number = [*zones].index(str(subnet.zone.value)) if subnet.zone.exists else 0
        if is_known(subnet.zone) and not unknown:
            ours = (*network.at, "availability_zones", number)
            subnet.zone.claim("taken over", "it is also the region of the stack", ours=ours)
        elif is_known(subnet.zone):
            subnet.zone.unsupported("set `availability_zones`, in the order of the subnets")
        claim_unknown(subnet.zone, (*network.at, "availability_zones"))
    if zones and not unknown:
        network.put("availability_zones", [*zones])
    else:
        letters = "abcdef"[: max(1, len(zones))]
        example = [f"{stack.region or 'us-east-1'}{letter}" for letter in letters]
        network.needs("availability_zones", example)


def _take_list(network: Draft, key: str, sources: Sequence[Reader]) -> None:
    known = [each for each in sources if is_known(each)]
    for source in sources:
        if source in known:
            number = known.index(source)
            source.claim("taken over", ours=(*network.at, key, number))
        claim_unknown(source, (*network.at, key))
    if known:
        network.put(key, [each.value for each in known])
        parent = known[0].report.origins
        parent.setdefault((*network.at, key), known[0].location)


def _read_gateways(template: Template, subnets: Sequence[_Subnet], network: Draft) -> None:
    gateways = [*template.of("AWS::EC2::NatGateway")]
    zones = {str(each.zone.value) for each in subnets}
    if any(not each.public for each in subnets):
        several = "one-per-zone" if len(zones) > 1 else "single"
        network.put(
            "nat_gateways", ("none", "single")[len(gateways)] if len(gateways) < 2 else several
        )
    for gateway in gateways:
        gateway.claim_made((*network.at, "nat_gateways"))
        gateway.at("SubnetId").implied("NAT gateways are in public subnets")
        if gateway.at("ConnectivityType").value not in (None, "public"):
            gateway.at("ConnectivityType").unsupported("NAT gateways of a stack are public")
    for route in template.of("AWS::EC2::Route"):
        if _leads_out(route, "GatewayId") or _leads_out(route, "NatGatewayId"):
            route.source.implied(
                "public subnets reach the internet through the internet gateway, and private ones "
                "through a NAT gateway"
            )


def _read_endpoints(template: Template, network: Draft) -> None:
    network.put("gateway_endpoints", [])
    for endpoint in template.of("AWS::EC2::VPCEndpoint"):
        place = _take_endpoint(network, endpoint.at("ServiceName"), endpoint.at("VpcEndpointType"))
        if place is not None:
            endpoint.claim_made(place)
        names = endpoint.at("PrivateDnsEnabled")
        if names.exists and str(names.flag).lower() != "true":
            names.claim("taken over better", "programs find interface endpoints by their names")


def _read_flow_logs(template: Template, network: Draft) -> None:
    logs = [*template.of("AWS::EC2::FlowLog")]
    for log in logs:
        if str(log.at("LogDestinationType").value or "cloud-watch-logs") == "cloud-watch-logs":
            network.put("flow_logs", value=True)
            log.claim_made((*network.at, "flow_logs"))
        else:
            log.source.unsupported(
                "flow logs of a stack go to CloudWatch Logs; create this one after `up`"
            )
        if log.at("ResourceType").value != "VPC":
            log.at("ResourceType").unsupported("flow logs of a stack are those of its VPC")
        if log.at("TrafficType").value not in (None, "ALL"):
            log.at("TrafficType").unsupported("flow logs of a stack have all traffic")
    for group in template.of("AWS::Logs::LogGroup"):
        days = group.at("RetentionInDays")
        if not logs:
            group.source.unsupported("keep the log group in a CloudFormation stack of its own")
        elif str(days.value) != str(_KEPT_DAYS):
            days.unsupported(
                f"flow logs are kept for {_KEPT_DAYS} days: set the retention of the log group in "
                "CloudWatch Logs after `up`"
            )


def _read_groups(template: Template, architecture: Draft | None) -> None:
    """Read security groups: of a network stack, whether it has those of EFA and Lustre.

    Args:
        template: The objects of the template.
        architecture: The section of a network stack; None for other stacks, whose nodes have their
            groups without a key.
    """
    efa = lustre = False
    for group in template.of("AWS::EC2::SecurityGroup"):
        rules = [*_rules(group, template)]
        of_group = [_purpose(rule, group, template) for rule in rules]
        efa, lustre = efa or "efa" in of_group, lustre or "lustre" in of_group
        for rule, purpose in zip(rules, of_group, strict=True):
            if purpose:
                rule.implied(_PURPOSES[purpose])
        if {"efa", "lustre"} & {*of_group}:
            key = "efa_security_group" if "efa" in of_group else "lustre_security_group"
            if architecture is not None:
                group.claim_made((*architecture.at, key))
            group.source.at("Type").implied("the stack has security groups for EFA and storage")
            for name in ("GroupDescription", "GroupName", "VpcId"):
                group.at(name).implied("it is a group of the stack, in its VPC")
    if architecture is not None:
        architecture.put("efa_security_group", efa)
        architecture.put("lustre_security_group", lustre)


_PURPOSES = {
    "efa": "members of the group for EFA reach each other with all traffic, in and out",
    "lustre": "the group for Lustre has ports 988 and 1018 to 1023, within the VPC",
    "out": "instances reach everything that their subnets have a route to",
}


def _rules(group: Resource, template: Template) -> Iterator[Reader]:
    for key in ("SecurityGroupIngress", "SecurityGroupEgress"):
        yield from group.at(key).items()
    for rule in template.of("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
        if template.named_by(rule.at("GroupId")) is group:
            yield rule.source


def _purpose(rule: Reader, group: Resource, template: Template) -> str:
    """Return what a rule is for: `efa`, `lustre`, `out`; empty for another one."""
    fields = rule.at("Properties") if rule.at("Properties").exists else rule
    others = (fields.at("SourceSecurityGroupId"), fields.at("DestinationSecurityGroupId"))
    all_traffic = str(fields.at("IpProtocol").value) == "-1"
    if all_traffic and any(template.named_by(each) is group for each in others):
        return "efa"
    ports = [str(fields.at(key).value) for key in ("FromPort", "ToPort")]
    if all(port.isdigit() for port in ports) and not all_traffic:
        first, last = map(int, ports)
        return "lustre" if first <= 988 <= last or (first >= 1018 and last <= 1023) else ""
    inward = "SecurityGroupIngress" in rule.location or (
        str(rule.at("Type").value) == "AWS::EC2::SecurityGroupIngress"
    )
    outward = all_traffic and not inward and fields.at("CidrIp").value in _ANYWHERE
    return "out" if outward else ""


_UNMADE: Sequence[tuple[str, str]] = (
    ("AWS::CloudFormation::Stack", "import the template of the nested stack on its own"),
    ("AWS::FSx::FileSystem", ("add an entry to `storage` of the stack whose nodes mount it: "
     "`fsx-lustre` for a new one, `existing-fsx-lustre` for this one")),
    ("AWS::FSx::", "add an entry to `storage` of the stack whose nodes mount it"),
    ("AWS::EFS::", ("add an entry to `storage` of the stack whose nodes mount it: `efs` for a new "
     "one, `existing-efs` for this one")),
    ("AWS::AutoScaling::AutoScalingGroup", ("nodes that EKS does not manage are read with "
     "`./trainyard import --live CLUSTER`, when the cluster runs")),
    ("AWS::SageMaker::", ("a stack has no SageMaker: for its nodes, begin with `./trainyard init "
     "NAME --kind eks` or `--kind parallelcluster`")),
    ("AWS::PCS::", ("for a cluster of Slurm, begin with `./trainyard init NAME --kind "
     "parallelcluster`")),
    (CLUSTER_IN_TEMPLATE, "a macro or a parameter has its configuration: import that as a file"),
    ("AWS::EC2::NetworkAcl", ("the default network ACL allows all traffic: add yours to the VPC "
     "after `up`")),
    ("AWS::EC2::Instance", "a stack has no single instances: keep it in a stack of its own"),
    ("AWS::IAM::", ("keep the policy in a CloudFormation stack of its own, and name its ARN in "
     "`iam_policies`")),
    ("AWS::Batch::", "a stack has no objects of this type: create it after `up`"),
)  # fmt: skip
"""What to do about other resource types, by the beginning of their names."""


def _what_to_do(kind: str) -> str:
    """Return what to do about an object of a type that no stack makes."""
    found = next((why for begin, why in _UNMADE if kind.startswith(begin)), "")
    return found or f"a stack creates no {kind}: keep it in a CloudFormation stack of its own"


KEYS = TemplateKeys(keys_beside(__file__))
OUTCOMES = OutcomeTable(outcomes_beside(__file__))
WORDS = {
    "instance_type": "InstanceTypes",
    "purchase_option": "CapacityReservationTarget",
    "reservation_id": "CapacityReservationId",
    "group_arn": "CapacityReservationResourceGroupArn",
    "placement": "PlacementGroup",
    "efa_enabled": "InterfaceType",
    "maximum": "MaxvCpus",
    "minimum": "MinvCpus",
    "custom_ami_id": "ImageId",
    "size_gib": "VolumeSize",
    "ssh_key_name": "Ec2KeyPair",
    "queue_priority": "Priority",
    "cidr": "CidrBlock",
    "secondary_cidrs": "CidrBlock",
    "public_subnet_cidrs": "CidrBlock",
    "private_subnet_cidrs": "CidrBlock",
    "availability_zones": "AvailabilityZone",
    "availability_zone": "AvailabilityZone",
    "vpc_id": "VpcId",
    "private_subnet_ids": "Subnets",
    "compute_environments": "AWS::Batch::ComputeEnvironment",
    "job_definitions": "AWS::Batch::JobDefinition",
    "compute_environment": "ComputeEnvironment",
    "nodes": "NumNodes",
    "image": "Image",
    "command": "Command",
    "environment": "Environment",
    "secrets": "Secrets",
    "vcpus": "VCPU",
    "memory_mib": "MEMORY",
    "accelerators": "GPU",
    "efa_interfaces": "Devices",
    "shared_memory_mib": "SharedMemorySize",
    "attempts": "Attempts",
    "timeout_minutes": "AttemptDurationSeconds",
}
_UNREAD = "AWS::EKS::"
_BATCH = ("AWS::Batch::ComputeEnvironment", "AWS::Batch::JobQueue", "AWS::Batch::JobDefinition")
_NO_VPC = (
    "the template creates no VPC with these parameters: give others with `--parameters FILE`, or "
    "use the VPC in other stacks with `kind: existing-vpc`"
)
_NOTHING = (
    "the template has no VPC and nothing of AWS Batch, so only the report helps; a cluster that it "
    "has created is read with `./trainyard import --live CLUSTER`"
)
_USES = {
    "AWS::IAM::Role": "keep the role in a CloudFormation stack of its own: nothing here that a "
    "stack makes has it",
    "AWS::EC2::LaunchTemplate": "no compute environment of the template launches "
    "from it: set the keys of the nodes of your stack to what it says",
}


def name_of(document: Document) -> str:
    """Return no name: that of the stack is the name of the file."""
    del document
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read a template into a stack file."""
    cluster = stack.cluster
    cluster.put("name", stack.name)
    given = read_parameter_files(source, stack)
    assert source.node is not None  # noqa: S101 - the root of a document
    evaluation = Evaluation(
        root=source.node,
        given=given,
        region=stack.region,
        stack_name=stack.name,
        guess=stack.guess,
    )
    template = read_template(source, evaluation)
    is_batch, has_vpc = any(template.of(*_BATCH)), any(template.of("AWS::EC2::VPC"))
    _claim_unread(template, source)
    _read_network(template, stack)
    architecture = cluster.section("architecture")
    if is_batch:
        architecture.put("kind", "batch")
        _read_batch(template, architecture, cluster)
        _read_groups(template, None)
    else:
        architecture.put("kind", "network")
        if not has_vpc:
            stack.forget("network")
            stack.needs_network()
            listed = [each.at("Type").value for _, each in source.at("Resources").entries()]
            source.report.notes.append(_NO_VPC if "AWS::EC2::VPC" in listed else _NOTHING)
        _read_groups(template, architecture)
    source.report.guessed = evaluation.has_guessed
    claim_branches(source.report, evaluation)
    _claim_rest(template, source)
    claim_origins(source, evaluation, given)


_KEPT = ("Retain", "RetainExceptOnCreate")
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"""


def _read_repositories(template: Template, architecture: Draft) -> None:
    for repository in template.of("AWS::ECR::Repository"):
        if not architecture.has("repository"):
            section = architecture.section("repository", repository.source)
            repository.claim_made(section.at)
            if repository.source.at("DeletionPolicy").value in _KEPT:
                why = "`deletion_protection` of a repository is on by default"
                repository.source.at("DeletionPolicy").implied(why)
            name = repository.at("RepositoryName")
            if is_known(name):
                section.take("name", name)
        else:
            repository.source.unsupported(
                "a stack has one repository: push its images to that one, or keep it in a stack "
                "of its own"
            )


def _read_batch(template: Template, architecture: Draft, cluster: Draft) -> None:
    environments = architecture.section("compute_environments")
    names = {
        each.name: read_environment(each, template, environments, cluster)
        for each in template.of("AWS::Batch::ComputeEnvironment")
        if _is_of_ec2(each)
    }
    read_queues(template, names, environments)
    _read_repositories(template, architecture)
    for job in template.of("AWS::Batch::JobDefinition"):
        _read_job(job, template, architecture, cluster, names)
    example = example_type(architecture.values.get("job_definitions", {}).values())
    for location in environments.unknown:
        if location[-1] == "instance_type":
            environments.unknown[location] = example
    if not environments.values:
        del architecture.values["compute_environments"]
        architecture.needs(
            "compute_environments", {"nodes": {"instance_type": example, "maximum": MOST_NODES}}
        )


def _is_of_ec2(environment: Resource) -> bool:
    kind = environment.at("ComputeResources", "Type")
    if str(kind.value).upper().startswith("FARGATE"):
        environment.source.unsupported(
            "nodes of a stack are EC2 instances: EFA does not exist on Fargate; keep it in a "
            "CloudFormation stack of its own"
        )
        return False
    return True


def _read_job(
    job: Resource, template: Template, architecture: Draft, cluster: Draft, names: dict[str, str]
) -> None:
    properties = job.at()
    platforms = [str(each.value).upper() for each in job.at("PlatformCapabilities").items()]
    if "FARGATE" in platforms:
        job.source.unsupported("jobs of a stack run on EC2 instances, not on Fargate")
        return
    named = job.at("JobDefinitionName")
    # The id of an object of an API begins with its type and a colon, which no other has.
    theirs = str(named.value) if is_known(named) else job.name.rpartition(":")[2]
    definitions = architecture.section("job_definitions")
    name = entry_name(theirs, str(cluster.values["name"]), definitions.values)
    draft = definitions.section(name, job.source)
    job.claim_made(draft.at, why_renamed(theirs, name))
    if is_known(named):
        named.claim("taken over", why_renamed(theirs, name), ours=draft.at)
    environment = environment_of(properties, names.values(), architecture)
    read_job(
        properties,
        draft,
        environment,
        takes_image=lambda image, entry: _takes_image(image, entry, template, architecture),
    )
    for container in (
        properties.at("ContainerProperties"),
        properties.at("NodeProperties", "NodeRangeProperties", 0, "Container"),
    ):
        role = template.named_by(container.at("JobRoleArn"))
        if role is not None:
            read_policies(role, draft)
            container.at("JobRoleArn").implied("the stack creates the roles of its jobs")
            role.source.at("Type").claim("taken over", ours=draft.at)


def _takes_image(image: Reader, draft: Draft, template: Template, architecture: Draft) -> bool:
    repository = template.within(image, "AWS::ECR::Repository")
    if repository is None:
        return False
    architecture.section("repository")
    why = "push the image with the name of the job definition as its tag"
    return draft.take("image", image, change=lambda _: "repository", why=why)


def _claim_unread(template: Template, source: Reader) -> None:
    """Report each type of EKS, which is not read, in one entry."""
    objects = [each.source for each in template.resources.values()]
    why = cluster_of_cloudformation([each.node for each in objects if each.node is not None])
    of_kinds: dict[str, list[Location]] = {}
    for each in template.resources.values():
        if each.kind.startswith(_UNREAD):
            of_kinds.setdefault(each.kind, []).append(each.source.location)
    for kind, locations in of_kinds.items():
        number = f" ({len(locations)})" if len(locations) > 1 else ""
        source.report.claim_together(locations, why, f"{kind}{number}")


def _claim_rest(template: Template, source: Reader) -> None:
    """Report what the conversion did not read of each object."""
    made = {location[1] for location in source.report.claims if location[:1] == ("Resources",)}
    for resource in template.resources.values():
        if resource.kind.startswith(_UNREAD):
            continue
        if resource.kind == CLUSTER_IN_TEMPLATE:
            _claim_cluster(resource)
        if (resource.kind,) not in TYPES.rows:
            resource.source.unsupported(_what_to_do(resource.kind))
            continue
        if resource.kind in _USES and not _is_used(resource, template, made):
            resource.source.unsupported(_USES[resource.kind])
        raw = source.at("Resources", resource.name)
        for location, _ in leaves(raw.node, raw.location) if raw.node else ():
            _claim_leaf(location, resource, source)


def _claim_cluster(cluster: Resource) -> None:
    """Report a cluster of ParallelCluster, which becomes a stack of its own."""
    if isinstance(cluster.at("ClusterConfiguration").value, dict):
        why = "the cluster is a stack of its own, with a report of its own"
        cluster.at("ClusterConfiguration").implied(why)
        cluster.source.at("Type").implied(why)
        cluster.at("ClusterName").implied("it is the name of that stack")
        cluster.at("ServiceToken").implied("a stack creates the cluster itself")
        cluster.at("DeletionPolicy").unsupported(
            "`./trainyard destroy` deletes what is not protected: see `docs/storage.md`"
        )


def _is_used(resource: Resource, template: Template, made: set[str | int]) -> bool:
    if resource.kind == "AWS::EC2::LaunchTemplate":
        return resource.name in made
    services = str(resource.at("AssumeRolePolicyDocument").value)
    served = ("batch.", "spotfleet.", "ecs-tasks.")
    if "vpc-flow-logs." in services:
        resource.at().implied("the stack creates the role of its flow logs")
        return True
    profiles = (each.at("Roles") for each in template.of("AWS::IAM::InstanceProfile"))
    attached = any(
        template.named_by(each) is resource for roles in profiles for each in roles.items()
    )
    return attached or resource.name in made or any(each in services for each in served)


def _claim_leaf(location: tuple[str | int, ...], resource: Resource, source: Reader) -> None:
    if source.report.has_claim(location):
        return
    attribute = location[2] if len(location) > 2 else ""
    row = TYPES.rows.get(("*", str(attribute)))
    claimed = Reader(resource.source.node, location, source.report)
    if row is not None:
        claimed.claim(row.fate, row.why)
        return
    path = [key for key in location[3:] if isinstance(key, str) and not key.startswith("Fn::")]
    keys = (resource.kind, *path)
    found = next(
        TYPES.rows[keys[:end]] for end in range(len(keys), 0, -1) if keys[:end] in TYPES.rows
    )
    claimed.claim(found.fate, found.why)
