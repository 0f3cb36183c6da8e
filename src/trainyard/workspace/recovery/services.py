"""CloudFormation stacks, log groups, repositories, resource groups and shares.

Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of each
type).
"""

from __future__ import annotations

from trainyard.workspace.recovery.account import Account, Found, Progress, tag_map
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_name, repeated


def _stack(account: Account, create: PendingCreate) -> list[Found]:
    stacks = account.all(
        "cloudformation", "describe_stacks", "Stacks", StackName=create.inputs["name"]
    )
    return [
        Found(
            stack["StackId"],
            _stack_progress(stack["StackStatus"]),
            stack["StackStatus"],
            tags=tag_map(stack.get("Tags")),
        )
        for stack in stacks
        if not stack["StackStatus"].startswith("DELETE_")
    ]


def _stack_progress(status: str) -> Progress:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html, "Stack
    # status codes": only a stack whose creation failed can do nothing but be deleted.
    if status.endswith("_IN_PROGRESS"):
        return Progress.MAKING
    never = {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}
    return Progress.FAILED if status in never else Progress.READY


def _log_group(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    groups = account.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    logs = account.client("logs")
    return [
        Found(name, tags=logs.list_tags_for_resource(resourceArn=_arn(group["arn"]))["tags"])
        for group in groups
        if group["logGroupName"] == name
    ]


def _arn(log_group: str) -> str:
    # `ListTagsForResource` requires the ARN without the suffix that `DescribeLogGroups` returns.
    # https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
    return log_group.removesuffix(":*")


def _repository(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    found = account.all("ecr", "describe_repositories", "repositories", repositoryNames=[name])
    ecr = account.client("ecr")
    return [
        Found(
            name,
            tags=tag_map(ecr.list_tags_for_resource(resourceArn=each["repositoryArn"])["tags"]),
        )
        for each in found
    ]


def _resource_group(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    group = account.one("resource-groups", "get_group", "Group", GroupName=name)
    if not group:
        return []
    tags = account.client("resource-groups").get_tags(Arn=group["GroupArn"])["Tags"]
    return [Found(name, tags=tags)]


def _accepted_share(account: Account, create: PendingCreate) -> list[Found]:
    arn = create.inputs["shareArn"]
    invitations = account.all(
        "ram",
        "get_resource_share_invitations",
        "resourceShareInvitations",
        resourceShareArns=[arn],
    )
    return [Found(arn) for each in invitations[-1:] if each["status"] == "ACCEPTED"]


WAYS: dict[str, Way] = {
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
