"""Look up the objects that already have a name that a stack takes for its own.

Sources: the API references of the calls, such as
    https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
    https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeRepositories.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_DescribeJobQueues.html and
    API_DescribeJobDefinitions.html
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
    https://docs.aws.amazon.com/ARG/latest/APIReference/API_GetGroup.html
    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html: times
        are milliseconds, and a group without `retentionInDays` keeps its events forever
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trainyard.components.account.cloudformation_stacks import DESCRIBE_STACKS, none_without_stack
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.named_facts import LogGroupFacts, OwnerFacts
from trainyard.components.account.named_lookup import find
from trainyard.components.tagging import CLUSTER_TAG, RESOURCE_TAG, creator_of, tag_map

CLUSTER_CALLS = ("eks:DescribeCluster", "ec2:DescribeLaunchTemplates")
REPOSITORY_CALLS = ("ecr:DescribeRepositories", "ecr:ListTagsForResource")
QUEUE_CALLS = ("batch:DescribeJobQueues",)
DEFINITION_CALLS = ("batch:DescribeJobDefinitions",)
STACK_CALLS = (DESCRIBE_STACKS,)
LOG_GROUP_CALLS = ("logs:DescribeLogGroups", "logs:ListTagsForResource")
GROUP_CALLS = ("resource-groups:GetGroup", "resource-groups:GetTags")


def look_up_cluster_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the EKS cluster.

    The `eks` plugin creates it without `RESOURCE_TAG`, so that its launch templates tell the stack.
    """
    answer = find(reader, CLUSTER_CALLS[0], reader.eks.describe_cluster, name=name)
    if not answer:
        return None
    cluster = answer["cluster"]
    tags: dict[str, str] = dict(cluster.get("tags") or {})
    if CLUSTER_TAG in tags and RESOURCE_TAG not in tags:
        tags.update(_tags_of_templates(reader, tags[CLUSTER_TAG]))
    return OwnerFacts(arn=cluster.get("arn", ""), state=cluster.get("status", ""), tags=tags)


def _tags_of_templates(reader: AccountReader, cluster: str) -> Mapping[str, str]:
    """Return the `RESOURCE_TAG` of a launch template, if all are of one stack."""
    wanted = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}]
    do = reader.ec2.describe_launch_templates
    answer = find(reader, CLUSTER_CALLS[1], do, Filters=wanted) or {}
    tags = [tag_map(each.get("Tags")) for each in answer.get("LaunchTemplates", [])]
    # An endpoint may ignore a filter.
    named = [each for each in tags if each.get(CLUSTER_TAG) == cluster and RESOURCE_TAG in each]
    if len({creator_of(each) for each in named}) != 1:
        return {}
    return {RESOURCE_TAG: named[0][RESOURCE_TAG]}


def look_up_repository_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the ECR repository of this account."""
    ecr = reader.client("ecr")
    answer = find(reader, REPOSITORY_CALLS[0], ecr.describe_repositories, repositoryNames=[name])
    for each in (answer or {}).get("repositories", []):
        arn = each["repositoryArn"]
        told = find(reader, REPOSITORY_CALLS[1], ecr.list_tags_for_resource, resourceArn=arn)
        return OwnerFacts(arn=arn, tags=tag_map((told or {}).get("tags")))
    return None


def look_up_queue_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the job queue."""
    do = reader.client("batch").describe_job_queues
    answer = find(reader, QUEUE_CALLS[0], do, jobQueues=[name])
    for each in (answer or {}).get("jobQueues", []):
        arn, status = each.get("jobQueueArn", ""), each.get("status", "")
        return OwnerFacts(arn=arn, state=status, tags=each.get("tags") or {})
    return None


def look_up_definition_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the newest active revision of the job definition."""
    do = reader.client("batch").describe_job_definitions
    answer = find(reader, DEFINITION_CALLS[0], do, jobDefinitionName=name, status="ACTIVE")
    revisions = (answer or {}).get("jobDefinitions", [])
    if not revisions:
        return None
    newest = max(revisions, key=lambda each: each.get("revision", 0))
    return OwnerFacts(
        arn=newest.get("jobDefinitionArn", ""), state="ACTIVE", tags=newest.get("tags") or {}
    )


def look_up_stack_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the CloudFormation stack."""
    do = none_without_stack(reader.client("cloudformation").describe_stacks)
    answer = find(reader, DESCRIBE_STACKS, do, StackName=name)
    for each in (answer or {}).get("Stacks", []):
        status = each["StackStatus"]
        # By its name, only an existing stack is returned; an emulator may return deleted ones.
        if status != "DELETE_COMPLETE":
            return OwnerFacts(
                arn=each.get("StackId", ""), state=status, tags=tag_map(each.get("Tags"))
            )
    return None


def look_up_group_owner(reader: AccountReader, name: str) -> OwnerFacts | None:
    """Return the resource group."""
    groups = reader.resource_groups
    answer = find(reader, GROUP_CALLS[0], groups.get_group, Group=name)
    if not answer:
        return None
    arn = answer["Group"]["GroupArn"]
    told = find(reader, GROUP_CALLS[1], groups.get_tags, Arn=arn)
    return OwnerFacts(arn=arn, tags=(told or {}).get("Tags") or {})


def look_up_log_group_owner(reader: AccountReader, name: str) -> LogGroupFacts | None:
    """Return the log group."""
    logs = reader.client("logs")
    answer = find(reader, LOG_GROUP_CALLS[0], logs.describe_log_groups, logGroupNamePrefix=name)
    found = log_group_named(name, answer)
    if found is None:
        return None
    # The call takes the ARN without the end that `DescribeLogGroups` returns.
    arn = found["arn"].removesuffix(":*")
    told = find(reader, LOG_GROUP_CALLS[1], logs.list_tags_for_resource, resourceArn=arn)
    return LogGroupFacts(
        arn=arn,
        tags=(told or {}).get("tags") or {},
        retention_days=found.get("retentionInDays", 0),
        created_at=datetime.fromtimestamp(found["creationTime"] / 1000, UTC),
    )


def log_group_named(name: str, answer: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the log group of a name from the answer of `DescribeLogGroups` for its prefix.

    The groups are sorted by their names, so it is in the first page.
    """
    groups = (answer or {}).get("logGroups", [])
    return next((each for each in groups if each["logGroupName"] == name), None)
