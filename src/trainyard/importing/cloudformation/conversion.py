"""A CloudFormation template as a stack file."""

from __future__ import annotations

from pathlib import Path

from trainyard.importing.cloudformation.eks import CLUSTER, NODE_GROUP, read_eks
from trainyard.importing.cloudformation.environments import (
    entry_name,
    read_environment,
    read_queues,
    why_renamed,
)
from trainyard.importing.cloudformation.evaluation import Evaluation
from trainyard.importing.cloudformation.fates import ATTRIBUTES, TYPES
from trainyard.importing.cloudformation.fates import FATES as FATES
from trainyard.importing.cloudformation.jobs import (
    MOST_NODES,
    environment_of,
    example_type,
    read_job,
)
from trainyard.importing.cloudformation.network import read_groups, read_network
from trainyard.importing.cloudformation.origins import (
    claim_branches,
    claim_origins,
    read_parameter_files,
)
from trainyard.importing.cloudformation.roles import read_policies
from trainyard.importing.cloudformation.template import Resource, Template, read_template
from trainyard.importing.cloudformation.template_keys import TemplateKeys
from trainyard.importing.cloudformation.unmade import what_to_do
from trainyard.importing.cloudformation.values import is_known
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.reader import Reader
from trainyard.importing.source import Document, child, leaves

KEYS = TemplateKeys(Path(__file__).with_name("keys.txt"))
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
_BATCH = ("AWS::Batch::ComputeEnvironment", "AWS::Batch::JobQueue", "AWS::Batch::JobDefinition")
_NO_VPC = (
    "the template creates no VPC with these parameters: give others with `--parameters FILE`, or "
    "use the VPC in other stacks with `kind: existing-vpc`"
)
_NOTHING = (
    "the template has no VPC and nothing of EKS and AWS Batch, so only the report helps; a cluster "
    "of ParallelCluster that it has created is read with `./trainyard import --live CLUSTER`"
)
_USES = {
    "AWS::IAM::Role": "keep the role in a CloudFormation stack of its own: nothing here that a "
    "stack makes has it",
    "AWS::EC2::LaunchTemplate": "no compute environment or node group of the template launches "
    "from it: set the keys of the nodes of your stack to what it says",
}


def name_of(document: Document) -> str:
    """Return the name of an EKS cluster; empty if the template has none, or computes it."""
    resources = child(document.root, "Resources")
    for each in resources.value.values() if resources is not None else ():
        kind, name = child(each, "Type"), child(child(each, "Properties"), "Name")
        if kind is not None and kind.value == CLUSTER and name is not None:
            return str(name.value) if isinstance(name.value, str) and not name.tag else ""
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read a template into a stack file."""
    cluster = stack.cluster
    cluster.put("name", stack.name)
    given = read_parameter_files(source, stack)
    assert source.node is not None  # noqa: S101 - the root of a document
    evaluation = Evaluation(
        root=source.node, given=given, region=stack.region, stack_name=stack.name
    )
    template = read_template(source, evaluation)
    is_batch, has_vpc = any(template.of(*_BATCH)), any(template.of("AWS::EC2::VPC"))
    is_eks = not is_batch and any(template.of(CLUSTER, NODE_GROUP))
    if is_eks:
        read_eks(template, stack, source)
    if has_vpc or not is_eks:
        read_network(template, stack)
    architecture = cluster.section("architecture")
    if is_eks:
        read_groups(template, None)
    elif is_batch:
        architecture.put("kind", "batch")
        _read_batch(template, architecture, cluster)
        read_groups(template, None)
    else:
        architecture.put("kind", "network")
        if not has_vpc:
            stack.forget("network")
            stack.needs_network()
            listed = [each.at("Type").value for _, each in source.at("Resources").entries()]
            source.report.notes.append(_NO_VPC if "AWS::EC2::VPC" in listed else _NOTHING)
        read_groups(template, architecture)
    claim_branches(source.report, evaluation)
    _claim_rest(template, source)
    claim_origins(source, evaluation, given)


def _read_batch(template: Template, architecture: Draft, cluster: Draft) -> None:
    environments = architecture.section("compute_environments")
    names = {
        each.name: read_environment(each, template, environments, cluster)
        for each in template.of("AWS::Batch::ComputeEnvironment")
        if _is_of_ec2(each)
    }
    read_queues(template, names, environments)
    for repository in template.of("AWS::ECR::Repository"):
        if not architecture.has("repository"):
            section = architecture.section("repository", repository.source)
            repository.claim_made(section.at)
            name = repository.at("RepositoryName")
            if is_known(name):
                section.take("name", name)
        else:
            repository.source.unsupported(
                "a stack has one repository: push its images to that one, or keep it in a stack "
                "of its own"
            )
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


def _claim_rest(template: Template, source: Reader) -> None:
    """Report what the conversion did not read of each object."""
    made = {location[1] for location in source.report.claims if location[:1] == ("Resources",)}
    for resource in template.resources.values():
        if resource.kind not in TYPES:
            resource.source.unsupported(what_to_do(resource.kind))
            continue
        if resource.kind in _USES and not _is_used(resource, template, made):
            resource.source.unsupported(_USES[resource.kind])
        raw = source.at("Resources", resource.name)
        for location, _ in leaves(raw.node, raw.location) if raw.node else ():
            _claim_leaf(location, resource, source)


def _is_used(resource: Resource, template: Template, made: set[str | int]) -> bool:
    if resource.kind == "AWS::EC2::LaunchTemplate":
        return resource.name in made
    services = str(resource.at("AssumeRolePolicyDocument").value)
    served = ("batch.", "eks.", "spotfleet.", "ecs-tasks.")
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
    row = ATTRIBUTES.get(str(attribute))
    claimed = Reader(resource.source.node, location, source.report)
    if row is not None:
        claimed.claim(row.fate, row.why)
        return
    rows = TYPES[resource.kind]
    path = tuple(key for key in location[3:] if isinstance(key, str) and not key.startswith("Fn::"))
    end = next(n for n in range(len(path), -1, -1) if path[:n] in rows)
    found = rows[path[:end]]
    claimed.claim(found.fate, found.why)
