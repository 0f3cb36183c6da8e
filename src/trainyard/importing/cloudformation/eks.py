"""An EKS cluster of a template: its objects as answers of EKS about such a cluster.

The properties of a template have the names of the API, so one conversion makes the decisions for
both: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_EKS.html.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.components.eks.log_group_plan import control_plane_log_group
from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.cloudformation.eks_answers import take_properties, take_value
from trainyard.importing.cloudformation.network import is_public, zone_of
from trainyard.importing.cloudformation.template import Resource, Template
from trainyard.importing.cloudformation.values import is_known
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.formats import EKS_ANSWERS
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location, leaves, node_of_value
from trainyard.importing.user_data import said_in

CLUSTER, NODE_GROUP = "AWS::EKS::Cluster", "AWS::EKS::Nodegroup"
_ADDON, _ENTRY = "AWS::EKS::Addon", "AWS::EKS::AccessEntry"
_CALLS: Mapping[str, str] = {
    NODE_GROUP: "DescribeNodegroup",
    _ADDON: "DescribeAddon",
    _ENTRY: "DescribeAccessEntry",
}
_ONE_ZONE = (
    "all nodes with EFA launch in one zone: name only that of the capacity, in "
    "`availability_zone` of the node group"
)


def read_eks(template: Template, stack: StackDraft, source: Reader) -> None:
    """Read a cluster and its node groups; the network only if the template creates no VPC.

    Args:
        template: The objects of the template.
        stack: The stack file.
        source: The root of the template.
    """
    answers = Rewritten(EKS_ANSWERS)
    has_vpc = any(template.of("AWS::EC2::VPC"))
    answers.put(("DescribeCluster", "name"), stack.name)
    _take_clusters(template, answers)
    _take_log_groups(template, answers)
    for kind, call in _CALLS.items():
        for number, each in enumerate(template.of(kind)):
            _take_member(each, (call, number), answers)
    _take_templates(template, answers)
    _take_roles(template, answers)
    if not has_vpc:
        _take_subnets(template, answers)
    answers.convert(source, stack)
    for each in template.of(*_CALLS):
        _claim_made(each)
    for group in template.of(NODE_GROUP):
        _need_type(group, template, stack.cluster)
    if has_vpc:
        _use_vpc(template, stack)


def _take_clusters(template: Template, answers: Rewritten) -> None:
    for number, cluster in enumerate(template.of(CLUSTER)):
        if number:
            cluster.source.unsupported(
                "a stack has one cluster: import the template of each on its own"
            )
        else:
            _take_cluster(cluster, answers)


def _take_cluster(cluster: Resource, answers: Rewritten) -> None:
    cluster.claim_made(("architecture", "kind"))
    at: Location = ("DescribeCluster",)
    for tag in cluster.at("Tags").items():
        answers.take((*at, "tags", str(tag.at("Key").value)), tag.at("Value"))
        tag.at("Key").implied("it is the key of the tag")
    logging = (*at, "logging", "clusterLogging", 0)
    types = cluster.at("Logging", "ClusterLogging", "EnabledTypes")
    for number, each in enumerate(types.items()):
        answers.put((*logging, "enabled"), value=True)
        answers.take((*logging, "types", number), each.at("Type"))
    take_properties(cluster, at, answers, without=("Tags", "Logging"))


def _take_log_groups(template: Template, answers: Rewritten) -> None:
    """Take the retention of the log groups of control planes."""
    names = {
        control_plane_log_group(name)
        for each in template.of(CLUSTER)
        for name in (str(each.at("Name").value), f"${{{each.name}}}")
    }
    for group in template.of("AWS::Logs::LogGroup"):
        name, days = group.at("LogGroupName"), group.at("RetentionInDays")
        if str(name.value) in names and is_known(days):
            answers.take(("DescribeLogGroups", 0, "logGroupName"), name)
            answers.take(("DescribeLogGroups", 0, "retentionInDays"), days)
            group.source.at("Type").implied("the stack has the log group of its control plane")


def _take_member(each: Resource, at: Location, answers: Rewritten) -> None:
    """Take a node group, an add-on or an access entry."""
    if each.kind == NODE_GROUP:
        named = _named(each)
        name = each.name if named.value == NODE_GROUP else str(named.value)
        answers.take((*at, "nodegroupName"), named, lambda _: name)
    take_properties(each, at, answers, without=("NodegroupName", "Subnets"))


def _named(group: Resource) -> Reader:
    """Return the place of the name of a node group; its type if it has that of its object."""
    given = group.at("NodegroupName")
    return given if is_known(given) else group.source.at("Type")


def _entry(group: Resource) -> Location:
    """Return the entry of the stack file that a node group became."""
    return group.source.report.claims[_named(group).location].ours


def _launch_template(group: Resource, template: Template) -> Resource | None:
    """Return the launch template of a node group, if the template creates it."""
    named = group.at("LaunchTemplate")
    found = template.named_by(named.at("Id")) or template.named_by(named.at("Name"))
    is_one = found is not None and found.kind == "AWS::EC2::LaunchTemplate"
    return found if is_one else None


def _take_templates(template: Template, answers: Rewritten) -> None:
    """Take the launch templates of node groups; their ids are the names of the objects."""
    launched: dict[str, Resource] = {}
    for number, group in enumerate(template.of(NODE_GROUP)):
        found = _launch_template(group, template)
        if found is not None:
            launched[found.name] = found
            answers.put(("DescribeNodegroup", number, "launchTemplate", "id"), found.name)
    for number, found in enumerate(launched.values()):
        at = ("DescribeLaunchTemplateVersions", number)
        answers.put((*at, "LaunchTemplateId"), found.name)
        found.source.at("Type").implied("the stack writes the launch template of its nodes")
        for key, value in found.at("LaunchTemplateData").entries():
            place = (*at, "LaunchTemplateData", key)
            if key == "UserData":
                _take_user_data(value, place, answers)
            else:
                take_value(place, value, answers, renames=False)


def _take_user_data(source: Reader, at: Location, answers: Rewritten) -> None:
    said = leaves(node_of_value(said_in(str(source.value))))
    # The first claim of a value is kept: that a script is not supported.
    for part, node in sorted(said, key=lambda each: each[0] != ("scripts",)):
        answers.take((*at, *part), source, lambda _, found=node.value: found)


def _take_roles(template: Template, answers: Rewritten) -> None:
    """Take the policies of the roles of nodes."""
    named = {
        str(group.at("NodeRole").value): role
        for group in template.of(NODE_GROUP)
        if (role := template.named_by(group.at("NodeRole"))) is not None
    }
    for number, (name, role) in enumerate(named.items()):
        at = ("ListAttachedRolePolicies", number)
        answers.put((*at, "RoleName"), name.rpartition("/")[2])
        role.source.at("Type").implied("the stack creates the role of its nodes")
        for index, arn in enumerate(role.at("ManagedPolicyArns").items()):
            policy = (*at, "AttachedPolicies", index)
            answers.put((*policy, "PolicyName"), str(arn.value).rpartition("/")[2])
            answers.take((*policy, "PolicyArn"), arn)


def _take_subnets(template: Template, answers: Rewritten) -> None:
    """Take the subnets of an existing VPC; those that the template does not create are private."""
    places: dict[Location, Reader] = {}
    for cluster in [*template.of(CLUSTER)][:1]:
        at = ("DescribeCluster", "resourcesVpcConfig", "subnetIds")
        places[at] = cluster.at("ResourcesVpcConfig", "SubnetIds")
    for number, group in enumerate(template.of(NODE_GROUP)):
        places["DescribeNodegroup", number, "subnets"] = group.at("Subnets")
    routes: dict[str, str] = {}
    for at, source in places.items():
        for index, subnet in enumerate(_listed(source)):
            answers.take((*at, index), subnet)
            made = template.named_by(subnet)
            public = made is not None and is_public(made, template)
            routes[str(subnet.value)] = "internet-gateway" if public else "nat-gateway"
    for number, (subnet, route) in enumerate(routes.items()):
        answers.put(("DescribeSubnets", number, "SubnetId"), subnet)
        answers.put(("DescribeSubnets", number, "DefaultRoute"), route)


def _listed(source: Reader) -> list[Reader]:
    """Return the entries of a list, of which a parameter may be the whole value."""
    return [source] if isinstance(source.value, Deferred) else [*source.items()]


def _claim_made(each: Resource) -> None:
    """Record of the object itself what became of its name."""
    named = {_ADDON: each.at("AddonName"), _ENTRY: each.at("PrincipalArn")}
    claim = each.source.report.claims.get(named.get(each.kind, _named(each)).location)
    if claim is not None:
        each.source.at("Type").claim(claim.fate, claim.why, ours=claim.ours)


def _need_type(group: Resource, template: Template, cluster: Draft) -> None:
    """Leave the instance type to the user if the template does not say which one it is."""
    types, launch = _listed(group.at("InstanceTypes")), _launch_template(group, template)
    types += [launch.at("LaunchTemplateData", "InstanceType")] if launch is not None else []
    given = [each for each in types if each.exists]
    if given and not is_known(given[0]):
        nodes = cluster
        for key in _entry(group):
            nodes = nodes.section(str(key))
        del nodes.values["instance_type"]
        nodes.needs("instance_type", "c5.large")


def _use_vpc(template: Template, stack: StackDraft) -> None:
    """Read the places of node groups in the VPC that the template creates."""
    stack.forget("network")
    for cluster in template.of(CLUSTER):
        subnets = cluster.at("ResourcesVpcConfig", "SubnetIds")
        subnets.implied("the control plane is in the private subnets of the stack")
    groups = stack.cluster.section("architecture").section("node_groups")
    for group in template.of(NODE_GROUP):
        ours = _entry(group)
        if ours[:-1] == groups.at:
            _read_place(group, template, groups.section(str(ours[-1])))
        else:
            group.at("Subnets").implied("the system node group is in every private subnet")


def _read_place(group: Resource, template: Template, nodes: Draft) -> None:
    subnets = _listed(group.at("Subnets"))
    if len(subnets) == 1:
        _read_zone(subnets[0], template, nodes)
    elif nodes.values.get("efa_enabled"):
        nodes.needs("availability_zone", "use1-az4")
        group.at("Subnets").unsupported(_ONE_ZONE, rule="A6")
    else:
        group.at("Subnets").implied("nodes launch in every private subnet")


def _read_zone(subnet: Reader, template: Template, nodes: Draft) -> None:
    made = template.named_by(subnet)
    zone = zone_of(made) if made is not None and made.kind == "AWS::EC2::Subnet" else None
    ours = (*nodes.at, "availability_zone")
    if zone is not None and is_known(zone):
        nodes.put("availability_zone", str(zone.value))
        subnet.claim("taken over", "it is the zone of the subnet", ours=ours)
    else:
        nodes.needs("availability_zone", "use1-az4")
        subnet.claim("not supported", "its zone is not known: set `availability_zone`", ours=ours)
