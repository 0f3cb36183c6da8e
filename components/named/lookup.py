"""Read CloudFormation stacks by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from botocore.exceptions import ClientError

from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.components.catalog.image_references import (
    ImageReference,
    ImageReferenceError,
    ecr_registry,
    parsed,
)
from trainyard.components.compute.facts import PlacementGroupFacts
from trainyard.components.config.storage_fields import s3_parts
from trainyard.components.named.facts import (
    AccessPointFacts,
    BucketFacts,
    ContainerImageFacts,
    Found,
    FunctionFacts,
    KmsKeyFacts,
    LogGroupFacts,
    ObjectFacts,
    OwnerFacts,
    PolicyFacts,
    TopicFacts,
    WorkspaceFacts,
)
from trainyard.components.naming import (
    is_customer_policy,
    managed_policy_arns,
    partition,
)
from trainyard.components.tagging import CLUSTER_TAG, RESOURCE_TAG, creator_of, tag_map

# Read CloudFormation stacks by name.
#
# Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html


DESCRIBE_STACKS = "cloudformation:DescribeStacks"


def none_without_stack(do: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call so that it returns None for a stack that does not exist.

    CloudFormation has no specific error for this, only ValidationError.
    """

    def call(**arguments: Any) -> Any:
        try:
            return do(**arguments)
        except ClientError as error:
            said = error.response.get("Error", {})
            if said.get("Code") == "ValidationError" and "not exist" in said.get("Message", ""):
                return None
            raise

    return call


# Look up the objects that a stack file names.
#
# Sources: the API references of the calls, such as
#     https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetPolicy.html
#     https://docs.aws.amazon.com/kms/latest/APIReference/API_DescribeKey.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribePlacementGroups.html
#     https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html and API_HeadObject.html
#     https://docs.aws.amazon.com/efs/latest/ug/API_DescribeAccessPoints.html
#     https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html
#     https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeImages.html
#     https://docs.aws.amazon.com/sns/latest/api/API_GetTopicAttributes.html
#     https://docs.aws.amazon.com/prometheus/latest/APIReference/API_DescribeWorkspace.html


class NotReadError(Exception):
    """The object could not be read, or is not one that this account can look up."""


LookUp = Callable[[AccountReader, str], Found | None]
"""Returns the object with a name, or None if it does not exist.

Raises:
    NotReadError: see there.
"""

GET_POLICY = "iam:GetPolicy"
DESCRIBE_KEY = "kms:DescribeKey"
DESCRIBE_GROUPS = "ec2:DescribePlacementGroups"
HEAD_BUCKET = "s3:HeadBucket"
HEAD_OBJECT = "s3:HeadObject"
DESCRIBE_ACCESS_POINTS = "elasticfilesystem:DescribeAccessPoints"
GET_FUNCTION = "lambda:GetFunctionConfiguration"
DESCRIBE_CONTAINER_IMAGES = "ecr:DescribeImages"
GET_TOPIC = "sns:GetTopicAttributes"
DESCRIBE_WORKSPACE = "aps:DescribeWorkspace"

_POLICY_PATHS = ("", "service-role/", "job-function/")
"""Paths of AWS managed policies that can be attached to any role.

https://docs.aws.amazon.com/aws-managed-policy/latest/reference/policy-list.html
"""
_DENIED = object()


def find(reader: AccountReader, call: str, do: Callable[..., Any], **arguments: Any) -> Any:
    """Return the response of a call, or None if it finds nothing.

    Raises:
        NotReadError: the call was denied or failed; `reader.unreadable` has the reason.
    """
    try:
        answer = reader.ask(call, do, if_denied=_DENIED, **arguments)
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{call}: {error}")
        raise NotReadError from error
    if answer is _DENIED:
        raise NotReadError
    return answer


def look_up_policy(reader: AccountReader, name: str) -> PolicyFacts | None:
    """Return the policy; if AWS manages none at this path, one of the same name at another path.

    A customer managed policy has its own ARN, which nothing else can stand for.
    """
    own, base = name, name.rpartition("/")[2]
    others = () if is_customer_policy(name) else tuple(f"{path}{base}" for path in _POLICY_PATHS)
    for each in dict.fromkeys((own, *others)):
        (arn,) = managed_policy_arns((each,), reader.region)
        answer = find(reader, GET_POLICY, reader.client("iam").get_policy, PolicyArn=arn)
        if answer:
            return PolicyFacts(name=each, attachable=answer["Policy"].get("IsAttachable", True))
    return None


def look_up_kms_key(reader: AccountReader, arn: str) -> KmsKeyFacts | None:
    """Return the key; another account's key can be read if its policy allows it.

    Raises:
        NotReadError: also for a key of another region, which the plan refuses.
    """
    if not _is_here(arn, reader):
        raise NotReadError
    answer = find(reader, DESCRIBE_KEY, reader.client("kms").describe_key, KeyId=arn)
    if not answer:
        return None
    key = answer["KeyMetadata"]
    return KmsKeyFacts(
        state=key["KeyState"],
        usage=key.get("KeyUsage", ""),
        # `KeySpec` replaces `CustomerMasterKeySpec`, which has the same value.
        spec=key.get("KeySpec", key.get("CustomerMasterKeySpec", "")),
    )


def look_up_topic(reader: AccountReader, arn: str) -> TopicFacts | None:
    """Return the topic; that of another account can be read if its policy allows it.

    Raises:
        NotReadError: also for a topic of another region, which the plan refuses.
    """
    if not _is_here(arn, reader):
        raise NotReadError
    client = reader.client("sns")
    answer = find(reader, GET_TOPIC, client.get_topic_attributes, TopicArn=arn)
    if not answer:
        return None
    policy = json.loads(answer["Attributes"].get("Policy") or "{}")
    return TopicFacts(
        publishers=frozenset(_publishers(_listed(policy.get("Statement", [])))),
        kms_key=answer["Attributes"].get("KmsMasterKeyId"),
    )


def look_up_workspace(reader: AccountReader, arn: str) -> WorkspaceFacts | None:
    """Return the workspace of this account with the id in an ARN.

    Raises:
        NotReadError: also for a workspace of another region, which the plan refuses.
    """
    if not _is_here(arn, reader):
        raise NotReadError
    do = reader.client("amp").describe_workspace
    answer = find(reader, DESCRIBE_WORKSPACE, do, workspaceId=arn.rpartition("/")[2])
    workspace = (answer or {}).get("workspace")
    # The same id in the ARN of another account is another workspace.
    if workspace is None or workspace["arn"] != arn:
        return None
    return WorkspaceFacts(status=workspace["status"]["statusCode"])


def _publishers(statements: Iterable[Any]) -> Iterator[str]:
    for statement in statements:
        principal = statement.get("Principal")
        allows = statement.get("Effect") == "Allow" and any(
            fnmatchcase("sns:publish", action.lower())
            for action in _listed(statement.get("Action", []))
        )
        if allows and isinstance(principal, dict):
            yield from _listed(principal.get("Service", []))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def look_up_placement_group(reader: AccountReader, name: str) -> PlacementGroupFacts | None:
    """Return the placement group of this account."""
    answer = find(reader, DESCRIBE_GROUPS, reader.ec2.describe_placement_groups, GroupNames=[name])
    for group in (answer or {}).get("PlacementGroups", []):
        return PlacementGroupFacts(state=group["State"], strategy=group.get("Strategy", "cluster"))
    return None


def look_up_bucket(reader: AccountReader, name: str) -> BucketFacts | None:
    """Return the bucket of a name or of an `s3://` address."""
    bucket, _ = s3_parts(name) or (name, "")
    answer = find(reader, HEAD_BUCKET, reader.client("s3").head_bucket, Bucket=bucket)
    return None if answer is None else BucketFacts(region=answer.get("BucketRegion", ""))


_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")


def look_up_script(reader: AccountReader, location: str) -> ObjectFacts | None:
    """Return the object of an `s3://` address.

    Raises:
        NotReadError: also for a built-in script, an `https://` address, and a bucket alone.
    """
    bucket, key = s3_parts(location) or ("", "")
    if not key:
        raise NotReadError
    do = reader.client("s3").head_object
    answer = find(reader, HEAD_OBJECT, do, Bucket=bucket, Key=key)
    if answer is None:
        return None
    # https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html, `StorageClass`,
    # `ArchiveStatus` and `Restore`: a restored copy has `ongoing-request="false"`.
    archived = answer.get("StorageClass") in _ARCHIVES or "ArchiveStatus" in answer
    restored = 'ongoing-request="false"' in answer.get("Restore", "")
    return ObjectFacts(
        size_bytes=answer.get("ContentLength", 0), archived=archived and not restored
    )


def look_up_access_point(reader: AccountReader, identifier: str) -> AccessPointFacts | None:
    """Return the access point."""
    do = reader.client("efs").describe_access_points
    answer = find(reader, DESCRIBE_ACCESS_POINTS, do, AccessPointId=identifier)
    for point in (answer or {}).get("AccessPoints", []):
        return AccessPointFacts(
            file_system_id=point["FileSystemId"], state=point.get("LifeCycleState", "available")
        )
    return None


def look_up_function(reader: AccountReader, arn: str) -> FunctionFacts | None:
    """Return the function.

    Raises:
        NotReadError: also for a function of another region, which the plan refuses.
    """
    if not _is_here(arn, reader):
        raise NotReadError
    do = reader.client("lambda").get_function_configuration
    answer = find(reader, GET_FUNCTION, do, FunctionName=arn)
    return FunctionFacts(state=answer.get("State", "Active")) if answer else None


def look_up_container_image(reader: AccountReader, image: str) -> ContainerImageFacts | None:
    """Return the image of a private ECR repository in this region.

    Raises:
        NotReadError: also for an image of another registry or region.
    """
    found = private_image(image, reader.region)
    if found is None:
        raise NotReadError
    # A digest identifies the image also if the tag has moved.
    wanted = {"imageDigest": found.digest} if found.digest else {"imageTag": found.reference}
    answer = find(
        reader,
        DESCRIBE_CONTAINER_IMAGES,
        reader.client("ecr").describe_images,
        registryId=account_of(found),
        repositoryName=found.path,
        imageIds=[wanted],
    )
    details = (answer or {}).get("imageDetails")
    return ContainerImageFacts(status=details[0].get("imageStatus", "ACTIVE")) if details else None


def private_image(image: str, region: str) -> ImageReference | None:
    """Return an image in ECR of a region; None for any other.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
    """
    try:
        found = parsed(image)
    except ImageReferenceError:
        return None
    if not isinstance(found, ImageReference):
        return None
    registry = ecr_registry(found.registry)
    return found if registry is not None and registry.region == region else None


def account_of(image: ImageReference) -> str:
    """Return the account whose ECR has an image."""
    return image.registry.partition(".")[0]


def _is_here(arn: str, reader: AccountReader) -> bool:
    """Return whether an ARN is of the partition and region of the reader."""
    return arn.split(":")[1:4:2] == [partition(reader.region), reader.region]


# Look up the objects that already have a name that a stack takes for its own.
#
# Sources: the API references of the calls, such as
#     https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html
#     https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeRepositories.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_DescribeJobQueues.html and
#     API_DescribeJobDefinitions.html
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
#     https://docs.aws.amazon.com/ARG/latest/APIReference/API_GetGroup.html
#     https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html: times
#         are milliseconds, and a group without `retentionInDays` keeps its events forever


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
