"""Checks of the objects that a stack file only names, kind by kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.check import Check, Finding, Subject
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.catalog.image_references import EXAMPLE_ACCOUNTS, ecr_registry
from trainyard.components.compute.facts import PlacementGroupFacts
from trainyard.components.config.fsx_lustre import DataRepository, NewFsxLustre
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage import ExistingEfs
from trainyard.components.named import lookup
from trainyard.components.named.facts import (
    AccessPointFacts,
    BucketFacts,
    ContainerImageFacts,
    FunctionFacts,
    KmsKeyFacts,
    ObjectFacts,
    PolicyFacts,
    TopicFacts,
    WorkspaceFacts,
)
from trainyard.components.named.made_names import MADE
from trainyard.components.named.object_kind import NamedContext, ObjectKind
from trainyard.components.naming import is_customer_policy

# Account checks of the placement groups that a stack file names.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html: a cluster
#     placement group lies in one zone
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html: capacity is reserved only in
#     cluster placement groups
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PlacementGroup.html


AVAILABLE = "available"


CLUSTER = "cluster"


def placement_group_problems(
    use: Named, found: PlacementGroupFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not launch into the group, or not close together."""
    path = f"{ROOT}.{use.key}"
    if found is None or found.state != AVAILABLE:
        yield Problem(
            path=path,
            found=use.name if found is None else f"{use.name}, {found.state}",
            problem="nothing launches into this placement group: it is not available here",
            allowed="a placement group of this account and region that is available",
            remedy="copy a name from `aws ec2 describe-placement-groups`",
        )
    elif found.strategy != CLUSTER:
        yield Problem(
            path=path,
            found=f"{use.name}, strategy {found.strategy}",
            problem=(
                f"a {found.strategy} placement group keeps nodes apart; capacity is reserved, and "
                "nodes stand close together, only in cluster placement groups"
            ),
            allowed="a placement group with the strategy cluster",
            remedy=(
                "give one (`aws ec2 create-placement-group --strategy cluster --group-name NAME`), "
                "or use `group: create`"
            ),
        )


# Account checks of the EFS access points that a stack file names.
#
# Source: https://docs.aws.amazon.com/efs/latest/ug/API_AccessPointDescription.html


def access_point_problems(
    use: Named, found: AccessPointFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not mount the file system through the access point."""
    path, owner = f"{ROOT}.{use.key}", use.owner
    wanted = owner.file_system_id if isinstance(owner, ExistingEfs) else ""
    if found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="this access point does not exist in this account and region",
            remedy=f"copy an id (`aws efs describe-access-points --file-system-id {wanted}`)",
        )
    elif found.file_system_id != wanted:
        yield Problem(
            path=path,
            found=f"{use.name}, of {found.file_system_id}",
            problem=f"this access point is of another file system than {wanted}",
            allowed=f"an access point of {wanted}",
            remedy="give an access point of the file system, or the other file_system_id",
        )
    elif found.state != AVAILABLE:
        yield Problem(
            path=path,
            found=f"{use.name}, {found.state}",
            problem="nothing mounts through an access point in this state",
            allowed="an access point that is available",
            remedy="wait until it is available, or give another",
        )


# Account checks of the S3 buckets and objects that a stack file names.
#
# Sources:
#     https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html: automatic
#     import needs a bucket in the region of the file system; export does not
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/custom-bootstrap-actions-v3.html: a node
#     whose script cannot be downloaded fails to start


def repository_problems(
    use: Named, found: BucketFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why FSx would not link a file system to the bucket."""
    path = f"{ROOT}.{use.key}"
    if found is None and not context.may_exist(use):
        yield Problem(
            path=path,
            found=use.name,
            problem="this S3 bucket does not exist, and FSx links file systems to existing ones",
            remedy="correct the name, or create the bucket (`aws s3 mb`)",
        )
    elif found is not None and _imports(use) and found.region not in ("", context.region):
        yield Problem(
            path=path,
            found=f"{use.name}, in {found.region}",
            problem="FSx imports changes only from buckets in the region of the file system",
            allowed=f"a bucket in {context.region}",
            remedy="give such a bucket, or import no changes (`import_events: []`, no auto_import)",
        )


def repository_warnings(
    use: Named, found: BucketFacts | None, context: NamedContext
) -> Iterator[str]:
    """Yield that the bucket of an existing file system is gone."""
    if found is None and context.may_exist(use):
        yield f"{use.key}: the bucket of {use.name} does not exist; new file systems need it"


def _imports(use: Named) -> bool:
    owner = use.owner
    if isinstance(owner, DataRepository):
        return bool(owner.import_events)
    return (
        isinstance(owner, NewFsxLustre)
        and use.key.endswith(".import_path")
        and owner.auto_import not in (None, "NONE")
    )


def bucket_warnings(use: Named, found: BucketFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield that nodes get permissions for a bucket that does not exist."""
    if found is None:
        yield (
            f"{use.key}: the S3 bucket {use.name} does not exist; create it (`aws s3 mb`), or "
            "correct the name"
        )


def script_problems(
    use: Named, found: ObjectFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not start: their script does not exist or is empty."""
    missing = _missing_script(use, found)
    if missing and not context.may_exist(use):
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem=f"{missing}; nodes that cannot run their script do not start",
            remedy=f"upload it (`aws s3 cp SCRIPT {use.name}`), or correct the address",
        )


def script_warnings(use: Named, found: ObjectFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield that further nodes of an existing cluster would not start."""
    missing = _missing_script(use, found)
    if missing and context.may_exist(use):
        yield f"{use.key}: {use.name}: {missing}; further nodes do not start"


def _missing_script(use: Named, found: ObjectFacts | None) -> str:
    if found is None:
        return "this bucket has no such object, or it does not exist"
    if found.archived:
        return "this object is archived, and has to be restored (`aws s3api restore-object`)"
    return "" if found.size_bytes else "this object is empty"


# Account checks of the container images in private ECR repositories.
#
# A missing image is only a warning: AWS Batch accepts the job definition, and the image can be
# pushed before the first job.
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_cannot_pull_image.html


def container_image_warnings(
    use: Named, found: ContainerImageFacts | None, context: NamedContext
) -> Iterator[str]:
    """Yield that jobs would fail to pull the image."""
    registry = ecr_registry(use.name.partition("/")[0])
    account = context.facts.account_id
    if registry is not None and account not in ("", registry.account):
        said = f", whose repository policy must allow account {account} to pull it"
        if registry.account in EXAMPLE_ACCOUNTS:
            own = registry.host(account=account)
            said = f", which is an example of AWS's documentation: write {own}"
        yield f"{use.key}: {use.name} is in the registry of account {registry.account}{said}"
    if found is None:
        yield (
            f"{use.key}: ECR has no image {use.name}; jobs fail with CannotPullContainerError "
            "until it is pushed"
        )
    elif found.status != "ACTIVE":
        yield (
            f"{use.key}: {use.name} is {found.status} in ECR, and no node can pull it; restore it: "
            "`aws ecr update-image-storage-class --repository-name NAME --image-id imageTag=TAG "
            "--target-storage-class STANDARD`"
        )


# Account checks of the Lambda function of a ParallelCluster provider stack.
#
# Source: https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html


def function_problems(
    use: Named, found: FunctionFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the provider could not create a cluster."""
    if found is None or found.state == "Failed":
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name if found is None else f"{use.name}, {found.state}",
            problem="no function answers for this provider, so the cluster is never made",
            remedy="copy the output ServiceToken of the provider stack, or remove the key",
        )


def image_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of AMIs ask."""
    for image_id in config.architecture.image_ids():
        image = facts.images.get(image_id)
        found = f"{image_id}, {image.state}, {image.architecture}" if image else image_id
        calls = ("ec2:DescribeImages",)
        yield Subject("architecture", "the image exists and fits the nodes", found, calls)


def missing_key_problems(
    path: str, key_name: str | None, facts: AccountFacts, *, loss: str, remedy: str
) -> Iterator[Problem]:
    """Yield a problem if a key pair does not exist.

    Args:
        path: Key of the name in the stack file.
        key_name: The name; None without a key pair, which is allowed.
        facts: The account.
        loss: Consequence: `no node would launch`.
        remedy: Alternative to importing it.
    """
    readable = facts.could_read("ec2:DescribeKeyPairs")
    if key_name is not None and readable and key_name not in facts.key_pairs:
        yield Problem(
            path=path,
            found=key_name,
            problem=f"this key pair does not exist in this region; {loss}",
            remedy=f"import it (`aws ec2 import-key-pair`), or {remedy}",
        )


def pool_key_problems(
    key: str, names: Mapping[str, str | None], facts: AccountFacts, *, remedy: str
) -> Iterator[Problem]:
    """Yield the key pairs of node pools that do not exist.

    Args:
        key: Key of the section of the pools, relative to `trainyard:cluster`.
        names: Names of the key pairs, by pool; None without one.
        facts: The account.
        remedy: Alternative to importing it.
    """
    for pool, name in names.items():
        path = f"{ROOT}.{key}.{pool}.ssh_key_name"
        yield from missing_key_problems(
            path, name, facts, loss="no node would launch", remedy=remedy
        )


def key_pair_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of key pairs ask."""
    for name in sorted(config.architecture.key_names()):
        found = f"{name}, {facts.key_pairs.get(name, 'type unknown')}"
        calls = ("ec2:DescribeKeyPairs",)
        yield Subject("architecture", "the key pair exists and fits", found, calls)


# Account checks of the KMS keys that a stack file names.
#
# Sources:
#     https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html: states in which a key
#     encrypts
#     https://docs.aws.amazon.com/eks/latest/APIReference/API_Provider.html, `keyArn`,
#     https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html, `KmsKeyId`, and
#     https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html: only
#     symmetric encryption keys


USABLE = frozenset({"Enabled", "Updating"})


_REMEDIES = {
    "Disabled": "enable it (`aws kms enable-key --key-id {arn}`), or give another key",
    "PendingDeletion": (
        "cancel the deletion (`aws kms cancel-key-deletion --key-id {arn}`) and enable it, or give "
        "another key"
    ),
    "PendingImport": "import its key material (`aws kms import-key-material`), or give another key",
    "Unavailable": "connect its custom key store, or give another key",
    "Creating": "wait until it is enabled",
}


def kms_key_problems(
    use: Named, found: KmsKeyFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the key encrypts nothing; nothing if what it encrypts may exist."""
    if not context.may_exist(use):
        yield from _problems(use, found)


def kms_key_warnings(use: Named, found: KmsKeyFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield why existing data may be unreadable, or new data not be encrypted."""
    if context.may_exist(use):
        for problem in _problems(use, found):
            yield f"{use.key}: {use.name}: {problem.problem}; {problem.remedy}"


def _problems(use: Named, found: KmsKeyFacts | None) -> Iterator[Problem]:
    path = f"{ROOT}.{use.key}"
    if found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="this KMS key does not exist, so nothing can be encrypted with it",
            remedy="copy the ARN of a key (`aws kms list-keys`), or correct aws:region",
        )
        return
    if found.usage != "ENCRYPT_DECRYPT" or found.spec != "SYMMETRIC_DEFAULT":
        yield Problem(
            path=path,
            found=f"{use.name}, {found.usage}, {found.spec}",
            problem="AWS encrypts data at rest only with symmetric encryption keys",
            allowed="a key with usage ENCRYPT_DECRYPT and spec SYMMETRIC_DEFAULT",
            remedy="give such a key (`aws kms create-key` creates one)",
        )
    if found.state not in USABLE:
        remedy = _REMEDIES.get(found.state, "give another key")
        yield Problem(
            path=path,
            found=f"{use.name}, {found.state}",
            problem=f"a KMS key in the state {found.state} encrypts nothing",
            allowed="a key in the state Enabled",
            remedy=remedy.format(arn=use.name),
        )


# Checks of the IAM policies that a stack file names.
#
# Sources:
#     https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html: the ARN
#     must be exact
#     https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html: the path is
#     part of an ARN


def policy_problems(
    use: Named, found: PolicyFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why IAM would not attach the policy."""
    path = f"{ROOT}.{use.key}"
    if found is None and is_customer_policy(use.name):
        yield Problem(
            path=path,
            found=use.name,
            problem="IAM has no customer managed policy of this ARN; `up` would fail to attach it",
            allowed="the ARN of a policy of the account, with its path",
            remedy="copy an ARN from `aws iam list-policies --scope Local`",
        )
    elif found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="AWS has no managed policy of this name; `up` would fail to attach it",
            allowed="the name of an AWS managed policy, with its path",
            remedy="copy a name from `aws iam list-policies --scope AWS`",
        )
    elif found.name != use.name:
        yield Problem(
            path=path,
            found=use.name,
            problem=(
                f"AWS has this policy only as {found.name}: the path is part of the ARN, and `up` "
                "would fail to attach another one"
            ),
            allowed=found.name,
            remedy=f"write {found.name}",
        )
    elif not found.attachable:
        yield Problem(
            path=path,
            found=use.name,
            problem="IAM does not attach this policy to a role",
            allowed="a policy with IsAttachable: true",
            remedy="remove it, or give another policy",
        )


# Account checks of the SNS topic that receives the alarms of a stack.
#
# Sources:
#     https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
#     https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
#     https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html: compatibility between event
#         sources from AWS services and encrypted topics


EVENTS = "events.amazonaws.com"


AWS_MANAGED_KEY = "alias/aws/sns"
"""Its policy does not let other services encrypt messages."""


def topic_problems(
    use: Named, found: TopicFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if the topic does not exist: alarms would go off unnoticed."""
    del context
    if found is None:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem="this SNS topic does not exist, so nobody would receive the alarms",
            remedy=(
                "copy the ARN of a topic (`aws sns list-topics`), or remove `topic_arn`: the stack "
                "then creates a topic"
            ),
        )


def topic_warnings(use: Named, found: TopicFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield warnings if EventBridge may not publish to the topic, or no service can encrypt."""
    del context
    if found is None:
        return
    if (found.kms_key or "").endswith(AWS_MANAGED_KEY):
        yield (
            f"{use.key}: {use.name}: the key {AWS_MANAGED_KEY} encrypts its messages, and does not "
            "let CloudWatch and EventBridge use it: no message arrives. Encrypt the topic with a "
            "key of your own whose policy allows both `kms:GenerateDataKey*` and `kms:Decrypt`, or "
            "not at all"
        )
    if EVENTS not in found.publishers:
        yield (
            f"{use.key}: {use.name}: its access policy does not allow {EVENTS} to publish; events "
            "such as the start and the end of a Capacity Block are lost. Allow `sns:Publish` to "
            "this service principal"
        )


# Account checks of the workspace of Amazon Managed Service for Prometheus that receives metrics.
#
# Source: https://docs.aws.amazon.com/prometheus/latest/APIReference/API_WorkspaceStatus.html


RECEIVING = frozenset({"ACTIVE", "CREATING", "UPDATING"})
"""States of a workspace that receives metrics, or soon will."""


def workspace_problems(
    use: Named, found: WorkspaceFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why the metrics of nodes would be lost."""
    if found is None:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem=(
                f"this account has no such workspace in {context.region}, so the metrics of nodes "
                "would be lost"
            ),
            remedy=(
                "copy the ARN of a workspace (`aws amp list-workspaces`), or create one: "
                f"`aws amp create-workspace --alias NAME --region {context.region}`"
            ),
        )
    elif found.status not in RECEIVING:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=f"{use.name}, {found.status}",
            problem="this workspace receives no metrics",
            remedy="give another workspace (`aws amp list-workspaces`)",
        )


OBJECT_KINDS: Mapping[str, ObjectKind] = {
    "iam-policy": ObjectKind(
        check="IAM policies",
        asked="AWS has the policy at this path",
        calls=(lookup.GET_POLICY,),
        look_up=lookup.look_up_policy,
        problems=policy_problems,
    ),
    "kms-key": ObjectKind(
        check="KMS keys",
        asked="the key exists, is enabled and symmetric",
        calls=(lookup.DESCRIBE_KEY,),
        look_up=lookup.look_up_kms_key,
        problems=kms_key_problems,
        warnings=kms_key_warnings,
    ),
    "placement-group": ObjectKind(
        check="placement groups",
        asked="the placement group exists, is available, of strategy cluster",
        calls=(lookup.DESCRIBE_GROUPS,),
        look_up=lookup.look_up_placement_group,
        problems=placement_group_problems,
    ),
    "s3-path": ObjectKind(
        check="data repositories",
        asked="the bucket exists, in the region if changes are imported",
        calls=(lookup.HEAD_BUCKET,),
        look_up=lookup.look_up_bucket,
        problems=repository_problems,
        warnings=repository_warnings,
    ),
    "s3-bucket": ObjectKind(
        check="buckets",
        asked="the bucket exists",
        calls=(lookup.HEAD_BUCKET,),
        look_up=lookup.look_up_bucket,
        warnings=bucket_warnings,
    ),
    "script": ObjectKind(
        check="scripts",
        asked="the script exists in S3",
        calls=(lookup.HEAD_OBJECT,),
        look_up=lookup.look_up_script,
        problems=script_problems,
        warnings=script_warnings,
    ),
    "access-point": ObjectKind(
        check="access points",
        asked="the access point exists, of this file system",
        calls=(lookup.DESCRIBE_ACCESS_POINTS,),
        look_up=lookup.look_up_access_point,
        problems=access_point_problems,
    ),
    "lambda-function": ObjectKind(
        check="provider",
        asked="the provider of ParallelCluster exists",
        calls=(lookup.GET_FUNCTION,),
        look_up=lookup.look_up_function,
        problems=function_problems,
    ),
    "container-image": ObjectKind(
        check="container images",
        asked="ECR has the image",
        calls=(lookup.DESCRIBE_CONTAINER_IMAGES,),
        look_up=lookup.look_up_container_image,
        warnings=container_image_warnings,
    ),
    "sns-topic": ObjectKind(
        check="SNS topics",
        asked="the topic exists, and EventBridge may publish to it",
        calls=(lookup.GET_TOPIC,),
        look_up=lookup.look_up_topic,
        problems=topic_problems,
        warnings=topic_warnings,
    ),
    "prometheus-workspace": ObjectKind(
        check="Prometheus workspaces",
        asked="the workspace exists and receives metrics",
        calls=(lookup.DESCRIBE_WORKSPACE,),
        look_up=lookup.look_up_workspace,
        problems=workspace_problems,
    ),
    **MADE,
}
"""By `Form.names`, and kinds of objects that a stack creates under a fixed name."""


def named_checks(known: Known[Any, Any]) -> Iterator[Finding]:
    """Yield one check for each kind of named object, and what AWS accepts but is hardly meant."""
    context = NamedContext(known.config, known.facts, known.region, known.stack_file)
    by_kind: dict[str, list[Named]] = {}
    for use in known.names:
        by_kind.setdefault(use.kind, []).append(use)
    named = context.facts.named
    for kind, same in by_kind.items():
        noun = OBJECT_KINDS[kind]
        problems = (
            problem
            for use in same
            if (kind, use.name) in named
            for problem in noun.problems(use, named[kind, use.name], context)
        )
        yield Check(noun.check, problems, _subjects(noun, same, context))
    for use in known.names:
        if (use.kind, use.name) in named:
            found = named[use.kind, use.name]
            yield from OBJECT_KINDS[use.kind].warnings(use, found, context)


def _subjects(noun: ObjectKind, uses: Iterable[Named], context: NamedContext) -> Iterator[Subject]:
    """Yield one subject for each key, also if the objects could not be read."""
    facts = context.facts
    by_key: dict[str, list[str]] = {}
    for use in uses:
        if (use.kind, use.name) in facts.named or not all(
            facts.could_read(call) for call in noun.calls
        ):
            by_key.setdefault(re.sub(r"\[\d+\]$", "", use.key), []).append(use.name)
    for key, names in by_key.items():
        yield Subject(key, noun.asked, ", ".join(names), noun.calls)
