"""How the objects of every resource type are found after a kill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import (
    FoundObject,
    Look,
    LookupAccount,
    ObjectProgress,
    progress,
    tag_map,
    tag_of,
)
from trainyard.workspace.recovery.lookups import Lookup, by_content, by_name, by_tag, repeated
from trainyard.workspace.recovery.operations import PendingCreate

# Compute environments, job queues and job definitions.
#
# Source of the states: https://docs.aws.amazon.com/batch/latest/APIReference/
# (`ComputeEnvironmentDetail`, `JobQueueDetail`: `status`). Source of the ids:
# https://www.pulumi.com/registry/packages/aws/api-docs/batch/ (section "Import" of each type).


_DELETED = {"DELETING", "DELETED"}
_MAKING_BATCH = {"CREATING", "UPDATING"}


def _environment(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    # The provider generates the name from a prefix, so the inputs do not have it.
    wanted = tag_of(create)
    return [
        FoundObject(
            each["computeEnvironmentName"],
            **progress(each["status"], making=_MAKING_BATCH, failed={"INVALID"}),
        )
        for each in account.all("batch", "describe_compute_environments", "computeEnvironments")
        if (each.get("tags") or {}).get(RESOURCE_TAG) == wanted and each["status"] not in _DELETED
    ]


def _queue(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    found = account.all(
        "batch", "describe_job_queues", "jobQueues", jobQueues=[create.inputs["name"]]
    )
    return [
        FoundObject(
            each["jobQueueArn"],
            tags=each.get("tags") or {},
            **progress(each["status"], making=_MAKING_BATCH, failed={"INVALID"}),
        )
        for each in found
        if each["status"] not in _DELETED
    ]


def _queue_by_id(account: LookupAccount, identifier: str) -> list[FoundObject]:
    queues = account.all("batch", "describe_job_queues", "jobQueues", jobQueues=[identifier])
    return [
        FoundObject(
            each["jobQueueArn"],
            **progress(each["status"], making={*_MAKING_BATCH, "DELETING"}, failed={"INVALID"}),
        )
        for each in queues
        if each["status"] != "DELETED"
    ]


def _definition(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    found = account.all(
        "batch",
        "describe_job_definitions",
        "jobDefinitions",
        jobDefinitionName=create.inputs["name"],
        status="ACTIVE",
    )
    # A create after a deletion of the same name continues the revision numbers; take the newest.
    newest = sorted(found, key=lambda each: each["revision"])[-1:]
    return [FoundObject(each["jobDefinitionArn"], tags=each.get("tags") or {}) for each in newest]


BATCH_LOOKUPS: dict[str, Lookup] = {
    "aws:batch/computeEnvironment:ComputeEnvironment": by_tag(
        "batch:DescribeComputeEnvironments", _environment
    ),
    "aws:batch/jobQueue:JobQueue": by_name("batch:DescribeJobQueues", _queue).looked_up_by(
        _queue_by_id
    ),
    "aws:batch/jobDefinition:JobDefinition": by_name("batch:DescribeJobDefinitions", _definition),
}


# Launch templates, placement groups, key pairs and Auto Scaling groups.
#
# Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of
# each type).


def _launch_template(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = [{"Name": "launch-template-name", "Values": [create.inputs["name"]]}]
    templates = account.all("ec2", "describe_launch_templates", "LaunchTemplates", Filters=name)
    return [FoundObject(t["LaunchTemplateId"], tags=tag_map(t.get("Tags"))) for t in templates]


def _placement_group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = [{"Name": "group-name", "Values": [create.inputs["name"]]}]
    groups = account.all("ec2", "describe_placement_groups", "PlacementGroups", Filters=name)
    return [
        FoundObject(group["GroupName"], tags=tag_map(group.get("Tags")))
        for group in groups
        if group["State"] in {"pending", "available"}
    ]


def _key_pair(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = [{"Name": "key-name", "Values": [create.inputs["keyName"]]}]
    pairs = account.all("ec2", "describe_key_pairs", "KeyPairs", Filters=name)
    return [FoundObject(pair["KeyName"], tags=tag_map(pair.get("Tags"))) for pair in pairs]


def _group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    groups = account.all(
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        AutoScalingGroupNames=[create.inputs["name"]],
    )
    # `Status` is present only while the group is being deleted.
    # https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_AutoScalingGroup.html
    return [
        FoundObject(group["AutoScalingGroupName"], tags=tag_map(group.get("Tags")))
        for group in groups
        if not group.get("Status")
    ]


COMPUTE_LOOKUPS: dict[str, Lookup] = {
    "aws:ec2/launchTemplate:LaunchTemplate": by_name(
        "ec2:DescribeLaunchTemplates", _launch_template
    ),
    "aws:ec2/placementGroup:PlacementGroup": by_name(
        "ec2:DescribePlacementGroups", _placement_group
    ),
    "aws:ec2/keyPair:KeyPair": by_name("ec2:DescribeKeyPairs", _key_pair),
    "aws:autoscaling/group:Group": by_name("autoscaling:DescribeAutoScalingGroups", _group),
    "aws:autoscaling/schedule:Schedule": repeated(
        "`PutScheduledUpdateGroupAction` with the same name updates the existing action, which is "
        "deleted with its Auto Scaling group"
    ),
    "aws:autoscaling/lifecycleHook:LifecycleHook": repeated(
        "`PutLifecycleHook` with the same name updates the existing hook, which is deleted with "
        "its Auto Scaling group"
    ),
}


# Control planes, node groups, add-ons and access entries.
#
# Source of the states: https://docs.aws.amazon.com/eks/latest/APIReference/ (`Cluster`,
# `Nodegroup`, `Addon`: `status`). Source of the ids:
# https://www.pulumi.com/registry/packages/aws/api-docs/eks/ (section "Import" of each type).


_MAKING = {"CREATING", "PENDING", "UPDATING"}


def _cluster(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    cluster = account.one("eks", "describe_cluster", "cluster", name=name)
    return _found(cluster, name, failed="FAILED")


def _node_group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    cluster, name = create.inputs["clusterName"], create.inputs["nodeGroupName"]
    group = account.one(
        "eks", "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name
    )
    return _found(group, f"{cluster}:{name}", failed="CREATE_FAILED")


def _addon(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    cluster, name = create.inputs["clusterName"], create.inputs["addonName"]
    addon = account.one("eks", "describe_addon", "addon", clusterName=cluster, addonName=name)
    return _found(addon, f"{cluster}:{name}", failed="CREATE_FAILED")


def _found(
    described: Mapping[str, Any] | None, identifier: str, *, failed: str
) -> list[FoundObject]:
    if not described or described["status"] == "DELETING":
        return []
    state = progress(described["status"], making=_MAKING, failed={failed})
    return [FoundObject(identifier, tags=described.get("tags") or {}, **state)]


def _access_entry(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    cluster, principal = create.inputs["clusterName"], create.inputs["principalArn"]
    entry = account.one(
        "eks", "describe_access_entry", "accessEntry", clusterName=cluster, principalArn=principal
    )
    return [FoundObject(f"{cluster}:{principal}", tags=entry.get("tags") or {})] if entry else []


EKS_LOOKUPS: dict[str, Lookup] = {
    "aws:eks/cluster:Cluster": by_name("eks:DescribeCluster", _cluster, fixed_name=True),
    "aws:eks/nodeGroup:NodeGroup": by_name("eks:DescribeNodegroup", _node_group),
    "aws:eks/addon:Addon": by_name("eks:DescribeAddon", _addon, fixed_name=True),
    "aws:eks/accessEntry:AccessEntry": by_name("eks:DescribeAccessEntry", _access_entry),
}


# Roles, role policies, instance profiles, and OIDC providers.
#
# Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/iam/ (section "Import" of
# each type).


def _role(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    role = account.one("iam", "get_role", "Role", RoleName=name)
    return [FoundObject(name, tags=tag_map(role.get("Tags")))] if role else []


def _profile(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    profile = account.one(
        "iam", "get_instance_profile", "InstanceProfile", InstanceProfileName=name
    )
    return [FoundObject(name, tags=tag_map(profile.get("Tags")))] if profile else []


def _role_policy(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    role, name = create.inputs["role"], create.inputs["name"]
    names = account.all("iam", "list_role_policies", "PolicyNames", RoleName=role)
    return [FoundObject(f"{role}:{name}")] if name in names else []


def _attachment(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    role, policy = create.inputs["role"], create.inputs["policyArn"]
    attached = account.all("iam", "list_attached_role_policies", "AttachedPolicies", RoleName=role)
    arns = {each["PolicyArn"] for each in attached}
    return [FoundObject(f"{role}/{policy}")] if policy in arns else []


def _oidc_provider(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    # Its ARN ends with the URL without the scheme.
    # https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetOpenIDConnectProvider.html
    ending = "/".join(["oidc-provider", create.inputs["url"].removeprefix("https://")])
    providers = account.all("iam", "list_open_id_connect_providers", "OpenIDConnectProviderList")
    return [FoundObject(each["Arn"]) for each in providers if each["Arn"].endswith(f":{ending}")]


IDENTITY_LOOKUPS: dict[str, Lookup] = {
    "aws:iam/role:Role": by_name("iam:GetRole", _role),
    "aws:iam/instanceProfile:InstanceProfile": by_name("iam:GetInstanceProfile", _profile),
    "aws:iam/rolePolicy:RolePolicy": by_name("iam:ListRolePolicies", _role_policy),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": by_content(
        "iam:ListAttachedRolePolicies", _attachment
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": by_name(
        "iam:ListOpenIDConnectProviders", _oidc_provider
    ),
}


# Collectors, dashboards, alarms, rules, schedules, topics, associations of Systems Manager.
#
# Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of
# each type).


def _alarm(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    found = account.all("cloudwatch", "describe_alarms", "MetricAlarms", AlarmNames=[name])
    client = account.client("cloudwatch")
    return [
        FoundObject(
            name, tags=tag_map(client.list_tags_for_resource(ResourceARN=each["AlarmArn"])["Tags"])
        )
        for each in found
    ]


def _rule(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    found = account.all("events", "list_rules", "Rules", NamePrefix=name)
    client = account.client("events")
    return [
        FoundObject(
            name, tags=tag_map(client.list_tags_for_resource(ResourceARN=each["Arn"])["Tags"])
        )
        for each in found
        if each["Name"] == name
    ]


def _schedule(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    found = account.all("scheduler", "list_schedules", "Schedules", NamePrefix=name)
    return [FoundObject(f"{each['GroupName']}/{name}") for each in found if each["Name"] == name]


def _topic(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    topics = account.all("sns", "list_topics", "Topics")
    arns = [each["TopicArn"] for each in topics]
    client = account.client("sns")
    return [
        FoundObject(arn, tags=tag_map(client.list_tags_for_resource(ResourceArn=arn)["Tags"]))
        for arn in arns
        if arn.endswith(f":{create.inputs['name']}")
    ]


def _state_manager_association(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    named = [{"key": "AssociationName", "value": create.inputs["associationName"]}]
    found = account.all("ssm", "list_associations", "Associations", AssociationFilterList=named)
    client = account.client("ssm")
    return [
        FoundObject(id_)
        for id_ in (each["AssociationId"] for each in found)
        if tag_map(
            client.list_tags_for_resource(ResourceType="Association", ResourceId=id_)["TagList"]
        ).get(RESOURCE_TAG)
        == tag_of(create)
    ]


def _scraper(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    found = account.all("amp", "list_scrapers", "scrapers")
    return [
        FoundObject(each["scraperId"])
        for each in found
        if (each.get("tags") or {}).get(RESOURCE_TAG) == tag_of(create)
    ]


def _rules(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    workspace, name = create.inputs["workspaceId"], create.inputs["name"]
    found = account.all(
        "amp",
        "list_rule_groups_namespaces",
        "ruleGroupsNamespaces",
        workspaceId=workspace,
        name=name,
    )
    return [
        FoundObject(each["arn"], tags=each.get("tags") or {})
        for each in found
        if each["name"] == name
    ]


MONITORING_LOOKUPS: dict[str, Lookup] = {
    "aws:amp/ruleGroupNamespace:RuleGroupNamespace": by_name(
        "aps:ListRuleGroupsNamespaces", _rules
    ),
    "aws:amp/scraper:Scraper": by_tag("aps:ListScrapers", _scraper),
    "aws:cloudwatch/dashboard:Dashboard": repeated(
        "`PutDashboard` overwrites it with the same dashboard"
    ),
    "aws:cloudwatch/eventRule:EventRule": by_name("events:ListRules", _rule),
    "aws:cloudwatch/eventTarget:EventTarget": repeated(
        "`PutTargets` overwrites the target, whose id is fixed"
    ),
    "aws:cloudwatch/logMetricFilter:LogMetricFilter": repeated(
        "`PutMetricFilter` overwrites the filter, whose name is fixed; it is deleted with its log "
        "group"
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": by_name("cloudwatch:DescribeAlarms", _alarm),
    "aws:scheduler/schedule:Schedule": by_name("scheduler:ListSchedules", _schedule),
    "aws:sns/topic:Topic": by_name("sns:ListTopics", _topic),
    "aws:sns/topicPolicy:TopicPolicy": repeated(
        "`SetTopicAttributes` overwrites it with the same policy; it is deleted with its topic"
    ),
    "aws:sns/topicSubscription:TopicSubscription": repeated(
        "`Subscribe` of the same address does not add a second subscription; it is deleted with "
        "its topic"
    ),
    "aws:ssm/association:Association": by_tag("ssm:ListAssociations", _state_manager_association),
}


# CloudFormation stacks, log groups, repositories, resource groups and shares.
#
# Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of
# each type).


def _stack(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    stacks = account.all(
        "cloudformation", "describe_stacks", "Stacks", StackName=create.inputs["name"]
    )
    return [
        FoundObject(
            stack["StackId"],
            _stack_progress(stack["StackStatus"]),
            stack["StackStatus"],
            tags=tag_map(stack.get("Tags")),
        )
        for stack in stacks
        if not stack["StackStatus"].startswith("DELETE_")
    ]


def _stack_progress(status: str) -> ObjectProgress:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html, "Stack
    # status codes": only a stack whose creation failed can do nothing but be deleted.
    if status.endswith("_IN_PROGRESS"):
        return ObjectProgress.MAKING
    never = {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}
    return ObjectProgress.FAILED if status in never else ObjectProgress.READY


def _log_group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    groups = account.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    logs = account.client("logs")
    return [
        FoundObject(name, tags=logs.list_tags_for_resource(resourceArn=_arn(group["arn"]))["tags"])
        for group in groups
        if group["logGroupName"] == name
    ]


def _arn(log_group: str) -> str:
    # `ListTagsForResource` requires the ARN without the suffix that `DescribeLogGroups` returns.
    # https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
    return log_group.removesuffix(":*")


def _repository(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    found = account.all("ecr", "describe_repositories", "repositories", repositoryNames=[name])
    ecr = account.client("ecr")
    return [
        FoundObject(
            name,
            tags=tag_map(ecr.list_tags_for_resource(resourceArn=each["repositoryArn"])["tags"]),
        )
        for each in found
    ]


def _resource_group(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    name = create.inputs["name"]
    group = account.one("resource-groups", "get_group", "Group", GroupName=name)
    if not group:
        return []
    tags = account.client("resource-groups").get_tags(Arn=group["GroupArn"])["Tags"]
    return [FoundObject(name, tags=tags)]


def _accepted_share(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    arn = create.inputs["shareArn"]
    invitations = account.all(
        "ram",
        "get_resource_share_invitations",
        "resourceShareInvitations",
        resourceShareArns=[arn],
    )
    return [FoundObject(arn) for each in invitations[-1:] if each["status"] == "ACCEPTED"]


SERVICES_LOOKUPS: dict[str, Lookup] = {
    "aws:cloudformation/stack:Stack": by_name(
        "cloudformation:DescribeStacks", _stack, fixed_name=True
    ),
    "aws:cloudwatch/logGroup:LogGroup": by_name("logs:DescribeLogGroups", _log_group),
    "aws:ecr/repository:Repository": by_name("ecr:DescribeRepositories", _repository),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": repeated(
        "`PutLifecyclePolicy` overwrites it with the same policy; it is deleted with its repository"
    ),
    "aws:ecr/repositoryPolicy:RepositoryPolicy": repeated(
        "`SetRepositoryPolicy` overwrites it with the same policy; it is deleted with its "
        "repository"
    ),
    "aws:resourcegroups/group:Group": by_name("resource-groups:GetGroup", _resource_group),
    "aws:resourcegroups/resource:Resource": repeated(
        "`GroupResources` of a member changes nothing; the membership is deleted with its group"
    ),
    "aws:ram/resourceShareAccepter:ResourceShareAccepter": by_name(
        "ram:GetResourceShareInvitations", _accepted_share
    ),
}


# FSx file systems, their data repository associations, and buckets.
#
# FSx has no filter for tags, so all file systems of the region are listed.
# Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html and
# `API_FileSystem.html` (`Lifecycle`).


_GONE = {"DELETING"}


def _file_system(kind: str) -> Look:
    def look(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
        systems = account.all("fsx", "describe_file_systems", "FileSystems")
        mine = [each for each in systems if each.get("FileSystemType") == kind]
        return _of(create, mine, "FileSystemId")

    return look


def _association(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    links = account.all("fsx", "describe_data_repository_associations", "Associations")
    return _of(create, links, "AssociationId")


def _of(create: PendingCreate, items: list[dict[str, Any]], identifier: str) -> list[FoundObject]:
    wanted = tag_of(create)
    return [
        FoundObject(
            each[identifier], **progress(each["Lifecycle"], making={"CREATING"}, failed={"FAILED"})
        )
        for each in items
        if tag_map(each.get("Tags")).get(RESOURCE_TAG) == wanted and each["Lifecycle"] not in _GONE
    ]


def _bucket(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    names = [each["Name"] for each in account.all("s3", "list_buckets", "Buckets")]
    made = [name for name in names if name.startswith(create.inputs["bucketPrefix"])]
    wanted = tag_of(create)
    return [
        FoundObject(name)
        for name in made
        if _bucket_tags(account, name).get(RESOURCE_TAG) == wanted
    ]


def _bucket_tags(account: LookupAccount, name: str) -> dict[str, str]:
    try:
        return tag_map(account.client("s3").get_bucket_tagging(Bucket=name)["TagSet"])
    except ClientError:  # NoSuchTagSet, or a bucket of another region
        return {}


_PART_OF_A_BUCKET = "overwrites it with the same setting; it is deleted with its bucket"

STORAGE_LOOKUPS: dict[str, Lookup] = {
    "aws:s3/bucket:Bucket": by_tag("s3:ListAllMyBuckets", _bucket),
    "aws:s3/bucketObjectv2:BucketObjectv2": repeated(
        "`PutObject` overwrites it with the same text; it is deleted with its bucket"
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": repeated(
        f"`PutBucketOwnershipControls` {_PART_OF_A_BUCKET}"
    ),
    "aws:s3/bucketPolicy:BucketPolicy": repeated(f"`PutBucketPolicy` {_PART_OF_A_BUCKET}"),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": repeated(
        f"`PutPublicAccessBlock` {_PART_OF_A_BUCKET}"
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": (
        repeated(f"`PutBucketEncryption` {_PART_OF_A_BUCKET}")
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": by_tag(
        "fsx:DescribeFileSystems", _file_system("LUSTRE")
    ),
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": by_tag(
        "fsx:DescribeFileSystems", _file_system("OPENZFS")
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": by_tag(
        "fsx:DescribeDataRepositoryAssociations", _association
    ),
}
