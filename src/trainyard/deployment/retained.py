"""What ParallelCluster retains in the account after its cluster is deleted, and how to remove it.

The account is read, not the state, because a failed cluster creation also retains its file systems,
and no output names them.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html,
`DeletionPolicy`; the tags are those of
https://docs.aws.amazon.com/parallelcluster/latest/ug/Tags-v3.html, and the security group of a file
system has its policy (`_add_storage_security_group` in
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.tagging import PARALLELCLUSTER_NODE_TAG, PARALLELCLUSTER_TAG
from trainyard.workspace.recovery.account import LookupAccount, tag_map
from trainyard.workspace.target import Target


class Kind(Enum):
    """Kinds of retained objects: name, kind in the stack file, and call that removes it."""

    LUSTRE = ("FSx for Lustre", "existing-fsx-lustre", "fsx delete-file-system --file-system-id")
    EFS = ("EFS", "existing-efs", "efs delete-file-system --file-system-id")
    EBS = ("EBS volume", "existing-ebs", "ec2 delete-volume --volume-id")
    GROUP = ("security group of a file system", None, "ec2 delete-security-group --group-id")

    def __init__(self, title: str, kind: str | None, removal: str) -> None:
        self.title = title
        self.kind = kind
        self.removal = removal


@dataclass(frozen=True, slots=True)
class Retained:
    """A retained object."""

    identifier: str
    kind: Kind
    name: str = ""
    """Key in `storage`; empty for a security group."""

    @property
    def line(self) -> str:
        """Id, kind and key."""
        said = f"  {self.identifier}  {self.kind.title}"
        return f"{said}, storage {self.name}" if self.name else said


def report_retained(target: Target, *, destroyed: bool) -> None:
    """Report what ParallelCluster has retained of a deleted cluster; nothing for other stacks.

    Args:
        target: The stack and its account.
        destroyed: Whether the cluster was destroyed; otherwise its `up` failed.
    """
    if not target.stack_file.facts.made_by_parallelcluster:
        return
    name, region = str(target.stack_file.cluster.get("name")), target.region
    look = what_stays if destroyed else what_failed_creations_left
    try:
        with target.access():
            said = look(name, region, target.account.settings)
    except failures.CommandError as error:
        # The reason for the failed `up` is more important.
        said = unknown(error, cluster_name=name, region=region) if destroyed else ""
    if said:
        console.answer(said)


def what_stays(cluster_name: str, region: str, settings: ProviderSettings = OF_ENVIRONMENT) -> str:
    """Return a message after a destroy of a cluster; empty if nothing is retained.

    `settings` say how the account is reached, by default with what the environment has.
    """
    account = LookupAccount(region, settings)
    try:
        if _exists(account, cluster_name):
            return (
                f"the cluster {cluster_name} and its resources are kept, because of "
                "architecture.deployment.deletion_policy: retain, and AWS continues to charge for "
                "its nodes\nto delete it:\n  pcluster delete-cluster --cluster-name "
                f"{cluster_name} --region {region}"
            )
        kept = tuple(retained_objects(account, cluster_name))
    except (BotoCoreError, ClientError) as error:
        return unknown(error, cluster_name=cluster_name, region=region)
    gone = (
        f"{cluster_name} is deleted; ParallelCluster has kept the storage with deletion_protection:"
    )
    return explanation(gone, kept, region=region) if kept else ""


def what_failed_creations_left(
    cluster_name: str, region: str, settings: ProviderSettings = OF_ENVIRONMENT
) -> str:
    """Return a message after a failed `up`; empty if nothing without a cluster is retained.

    CloudFormation rolls back a failed creation and keeps resources with a Retain policy.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
    """
    account = LookupAccount(region, settings)
    try:
        if _exists(account, cluster_name):
            return ""
        kept = tuple(retained_objects(account, cluster_name))
    except (BotoCoreError, ClientError):
        # The reason for the failed `up` is more important.
        return ""
    none = (
        f"there is no cluster {cluster_name}; ParallelCluster has kept storage with "
        "deletion_protection from earlier attempts:"
    )
    return explanation(none, kept, region=region) if kept else ""


def _exists(account: LookupAccount, cluster_name: str) -> bool:
    stacks = account.all("cloudformation", "describe_stacks", "Stacks", StackName=cluster_name)
    return any(stack["StackStatus"] != "DELETE_COMPLETE" for stack in stacks)


def retained_objects(account: LookupAccount, cluster_name: str) -> Iterator[Retained]:
    """Yield the retained storage of a deleted cluster.

    Args:
        account: The account, in the cluster's region.
        cluster_name: Name of the cluster and of ParallelCluster's own stack.
    """
    for each in account.all("fsx", "describe_file_systems", "FileSystems"):
        if _is_of(each, cluster_name) and each.get("Lifecycle") != "DELETING":
            yield Retained(each["FileSystemId"], Kind.LUSTRE, _name(each))
    for each in account.all("efs", "describe_file_systems", "FileSystems"):
        if _is_of(each, cluster_name) and each.get("LifeCycleState") not in {"deleting", "deleted"}:
            yield Retained(each["FileSystemId"], Kind.EFS, _name(each))
    of_cluster = [{"Name": f"tag:{PARALLELCLUSTER_TAG}", "Values": [cluster_name]}]
    for each in account.all("ec2", "describe_volumes", "Volumes", Filters=of_cluster):
        # Volumes of nodes are deleted with the nodes.
        of_node = PARALLELCLUSTER_NODE_TAG in tag_map(each.get("Tags"))
        if not of_node and each.get("State") not in {"deleting", "deleted"}:
            yield Retained(each["VolumeId"], Kind.EBS, _name(each))
    groups = account.all("ec2", "describe_security_groups", "SecurityGroups", Filters=of_cluster)
    for each in groups:
        yield Retained(each["GroupId"], Kind.GROUP)


def _is_of(described: Mapping[str, Any], cluster_name: str) -> bool:
    return tag_map(described.get("Tags")).get(PARALLELCLUSTER_TAG) == cluster_name


def _name(described: Mapping[str, Any]) -> str:
    return tag_map(described.get("Tags")).get("Name", "")


def explanation(heading: str, kept: Iterable[Retained], *, region: str) -> str:
    """Return a message: what is retained, how to use it again, and how to remove it."""
    # Objects in use cannot be removed, so security groups come last.
    everything = sorted(kept, key=lambda each: each.kind is Kind.GROUP)
    kinds = dict.fromkeys(each.kind.kind for each in everything if each.kind.kind)
    again = "the next `up` creates new ones; to use these again, set their ids with kind: {}"
    return "\n".join(
        [
            heading,
            *(each.line for each in everything),
            *([again.format(", ".join(kinds))] if kinds else []),
            "to delete them with their data (delete EFS mount targets first):"
            if any(each.kind is Kind.EFS for each in everything)
            else "to delete them with their data:",
            *(
                f"  aws {each.kind.removal} {each.identifier} --region {region}"
                for each in everything
            ),
        ]
    )


def unknown(reason: object, *, cluster_name: str, region: str) -> str:
    """Return a message for an account that could not be read.

    Args:
        reason: The error.
        cluster_name: The deleted cluster.
        region: Region of the cluster.
    """
    of_cluster = f"Tags[?Key=='{PARALLELCLUSTER_TAG}' && Value=='{cluster_name}']"
    systems = f'describe-file-systems --query "FileSystems[?{of_cluster}].FileSystemId"'
    filters = f"--filters Name=tag:{PARALLELCLUSTER_TAG},Values={cluster_name}"
    commands = (
        f"fsx {systems}",
        f"efs {systems}",
        f"ec2 describe-volumes {filters}",
        f"ec2 describe-security-groups {filters}",
    )
    return "\n".join(
        [
            (
                f"{cluster_name} is deleted; storage kept by deletion_protection could not be "
                "looked up:"
            ),
            f"  {reason}",
            "to find it:",
            *(f"  aws {each} --region {region}" for each in commands),
        ]
    )
