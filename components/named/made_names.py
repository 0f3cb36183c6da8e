"""Account checks of the fixed names under which a stack creates objects.

The tags of an existing object tell who created it. An object of this stack is no problem: the
update keeps it, or completes it after an interruption (`src/trainyard/workspace/recovery`).

Sources: the errors of the calls that create the objects, such as
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html,
    `ResourceInUseException`
    https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html,
    `RepositoryAlreadyExistsException`
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html,
    `AlreadyExistsException`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.config.reservations import OdcrGroup
from trainyard.components.config.stack import StackConfig
from trainyard.components.named import lookup
from trainyard.components.named.facts import OwnerFacts
from trainyard.components.named.lookup import LookUp
from trainyard.components.named.object_kind import NamedContext, ObjectKind
from trainyard.components.naming import RESERVATION_GROUP
from trainyard.components.tagging import CLUSTER_TAG, RESOURCE_TAG, creator_of

EKS_CLUSTER = "eks-cluster"
REPOSITORY = "ecr-repository"
ADOPTED_REPOSITORY = "adopted-ecr-repository"
JOB_QUEUE = "job-queue"
JOB_DEFINITION = "job-definition"
CLOUDFORMATION_STACK = "cloudformation-stack"
SLURM_CLUSTER = "slurm-cluster"
RESOURCE_GROUP = "resource-group"
LOG_GROUP = "log-group"

_NOUNS = {
    EKS_CLUSTER: "an EKS cluster",
    REPOSITORY: "an ECR repository",
    ADOPTED_REPOSITORY: "an ECR repository",
    JOB_QUEUE: "a job queue",
    JOB_DEFINITION: "a job definition",
    CLOUDFORMATION_STACK: "a CloudFormation stack",
    SLURM_CLUSTER: "a CloudFormation stack",
    RESOURCE_GROUP: "a resource group",
    LOG_GROUP: "a log group",
}


def group_names(config: StackConfig) -> Iterator[Named]:
    """Yield the reservation groups that the stack creates."""
    for name, reservation in config.used_reservations().items():
        if isinstance(reservation, OdcrGroup) and reservation.members:
            group = f"{RESERVATION_GROUP}{config.name}-{name}"
            yield Named(RESOURCE_GROUP, group, f"reservations.{name}.members")


def made_name_problems(
    use: Named, found: OwnerFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if the name is taken by something that this stack did not create."""
    if found is None:
        return
    creator = creator_of(found.tags)
    if creator is None:
        yield _taken_by_others(use, found, context)
        return
    stack, cluster = creator
    # The name in the stack file can change without a new repository.
    knows_stacks = bool(stack and context.stack)
    if (stack != context.stack) if knows_stacks else (cluster != context.config.name):
        yield _taken_by_a_stack(use, found, context, stack or f"with the name {cluster}")


def adopted_name_problems(
    use: Named, found: OwnerFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if the object to adopt does not exist, or is part of another stack."""
    if found is None:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem=f"this account and region do not have {_NOUNS[use.kind]} of this name to adopt",
            allowed="the name of one that exists",
            remedy="set the name of one, or remove `adopt` to create it",
        )
    elif creator_of(found.tags) is not None:
        yield from made_name_problems(use, found, context)


def log_group_problems(
    use: Named, found: OwnerFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if the log group is part of another stack; `up` adopts any other."""
    if found is not None and creator_of(found.tags) is not None:
        yield from made_name_problems(use, found, context)


def _taken_by_others(use: Named, found: OwnerFacts, context: NamedContext) -> Problem:
    adopt = (
        "let the stack own it, with its images: "
        + set_command(
            f"{ROOT}.{use.key.removesuffix('name')}adopt", "true", stack_file=context.stack_file
        )
        + ", or "
        if use.kind == REPOSITORY
        else ""
    )
    return Problem(
        path=f"{ROOT}.{use.key}",
        found=_found(use, found),
        problem=(
            f"this account has {_NOUNS[use.kind]} of this name that no stack of this program "
            "created; `up` would fail, or change what is not its own"
        ),
        allowed="a name that is not in use",
        remedy=(
            f"{adopt}{_rename(use)}. If it was imported into this stack (`pulumi import`), tag it: "
            f"{_tag_command(found, context)}"
        ),
    )


def _taken_by_a_stack(use: Named, found: OwnerFacts, context: NamedContext, stack: str) -> Problem:
    return Problem(
        path=f"{ROOT}.{use.key}",
        found=_found(use, found),
        problem=(
            f"{_NOUNS[use.kind]} of this name is part of another stack of this program, {stack}; "
            "`up` would fail, or change what is not its own"
        ),
        allowed="a name that is not in use",
        remedy=(
            f"{_rename(use)}. If this is that stack under a new name, tag it: "
            f"{_tag_command(found, context)}"
        ),
    )


def _tag_command(found: OwnerFacts, context: NamedContext) -> str:
    """Return the command that makes an object part of this stack."""
    tag = f"{CLUSTER_TAG}={context.config.name}"
    if context.stack:
        tag += f",{RESOURCE_TAG}={context.stack}::{ROOT.partition(':')[0]}"
    return (
        f"aws resourcegroupstaggingapi tag-resources --resource-arn-list {found.arn} --tags {tag}"
    )


def slurm_cluster_problems(
    use: Named, found: OwnerFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if ParallelCluster would refuse a new cluster of this name.

    A cluster without the CloudFormation stack in which this program deploys it was created in
    another way, or retained by `destroy`.
    """
    outer = [
        state for (kind, _), state in context.facts.named.items() if kind == CLOUDFORMATION_STACK
    ]
    if found is None or outer != [None]:
        return
    yield Problem(
        path=f"{ROOT}.{use.key}",
        found=_found(use, found),
        problem=(
            "a CloudFormation stack of this name exists, and ParallelCluster gives each cluster a "
            "stack of its name; it refuses to create the cluster"
        ),
        allowed="a name that is not in use",
        remedy=f"{_rename(use)}, or delete the old cluster (`pcluster delete-cluster`)",
    )


def _found(use: Named, found: OwnerFacts) -> str:
    return f"{use.name}, {found.state}" if found.state else use.name


def _rename(use: Named) -> str:
    key = use.key if use.key.endswith("name") else "name"
    return f"set `{key}` to another name" if key == use.key else "rename the entry, or set `name`"


def _noun(
    calls: tuple[str, ...],
    look_up: LookUp,
    asked: str = "the name is free, or taken by this stack",
    problems: Callable[[Named, Any, NamedContext], Iterator[Problem]] = made_name_problems,
) -> ObjectKind:
    return ObjectKind(check="names", asked=asked, calls=calls, look_up=look_up, problems=problems)


MADE: Mapping[str, ObjectKind] = {
    EKS_CLUSTER: _noun(lookup.CLUSTER_CALLS, lookup.look_up_cluster_owner),
    REPOSITORY: _noun(lookup.REPOSITORY_CALLS, lookup.look_up_repository_owner),
    ADOPTED_REPOSITORY: _noun(
        lookup.REPOSITORY_CALLS,
        lookup.look_up_repository_owner,
        "the repository exists, and is not part of another stack",
        adopted_name_problems,
    ),
    JOB_QUEUE: _noun(lookup.QUEUE_CALLS, lookup.look_up_queue_owner),
    JOB_DEFINITION: _noun(lookup.DEFINITION_CALLS, lookup.look_up_definition_owner),
    CLOUDFORMATION_STACK: _noun(lookup.STACK_CALLS, lookup.look_up_stack_owner),
    SLURM_CLUSTER: _noun(
        lookup.STACK_CALLS,
        lookup.look_up_stack_owner,
        "no other cluster has the name",
        slurm_cluster_problems,
    ),
    RESOURCE_GROUP: _noun(lookup.GROUP_CALLS, lookup.look_up_group_owner),
    LOG_GROUP: _noun(
        lookup.LOG_GROUP_CALLS,
        lookup.look_up_log_group_owner,
        "the log group is not part of another stack",
        log_group_problems,
    ),
}
"""By kind of a derived name."""
