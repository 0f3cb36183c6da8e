"""Whether an EKS cluster still lets in the role of its nodes, and the commands that restore it.

The kubelet authenticates with the IAM role of its instance. Without an access entry or an entry in
aws-auth for the role, every request is answered with `Unauthorized`: the node cannot renew its
lease and becomes NotReady, and new nodes do not join.

EKS reads access entries, unless the authentication mode is `CONFIG_MAP`, and then aws-auth, unless
it is `API`. For the same principal, the access entry takes precedence.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html, "Important"
    https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
    https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
    https://kubernetes.io/docs/concepts/architecture/leases/#node-heart-beats
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from trainyard.components.config.problems import set_command
from trainyard.components.plain_text import shell_word
from trainyard.components.runtime.aws_auth_plan import (
    HOW_TO_REPAIR,
    NODE_USERNAME,
    MapRolesError,
    find_role,
    listed_roles,
    pathless_role_arn,
)
from trainyard.diagnosis.known_errors import NODE_LOST
from trainyard.workspace.target import Target

_GROUPS = {"system:nodes", "system:masters"}
"""Groups whose members may report a node; the second may do everything.
https://kubernetes.io/docs/reference/access-authn-authz/node/"""
_ENTRY_TYPE = "EC2_LINUX"
_MODE = "trainyard:cluster.architecture.authentication_mode"


@dataclass(frozen=True, slots=True)
class LostAccess:
    """A role of nodes that the cluster does not let in."""

    groups: tuple[str, ...]
    """Node groups in the stack file with this cause."""
    why: str
    heal: tuple[str, ...]
    """The commands that let it in again, in this order."""
    answer: str
    """The API server's answer to the kubelets: `Unauthorized` to nobody, `Forbidden` to a user
    who may not report the node."""

    @property
    def cause(self) -> str:
        """The cause as a sentence without commands."""
        groups = f"node group{'s' if len(self.groups) > 1 else ''} {', '.join(self.groups)}"
        return (
            f"{groups}: the cluster refuses the kubelets ({self.answer}), so nodes become NotReady "
            f"when their lease expires, and new ones do not join: {self.why}"
        )

    @property
    def line(self) -> str:
        """The cause with the commands, in one line."""
        return f"{self.cause}. To restore the access: {', then '.join(self.heal)}"

    @property
    def lines(self) -> list[str]:
        """The cause, a line for each command, and the section of the documentation."""
        below = (f"  {each}" for each in (*self.heal, NODE_LOST.more))
        return [f"{self.cause}. To restore the access:", *below]


def lost_access(
    eks: Any,
    outputs: Mapping[str, Any],
    aws_auth: Mapping[str, str] | None,
    *,
    target: Target,
    kubectl: str,
) -> list[LostAccess]:
    """Return the roles of a stack's nodes that its cluster does not let in.

    Args:
        eks: A boto3 EKS client.
        outputs: Outputs of the stack.
        aws_auth: Data of the ConfigMap aws-auth; None if it does not exist.
        target: The stack, for the commands.
        kubectl: The command with its kubeconfig.

    Raises:
        botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError: EKS rejected a request
            or did not respond.
    """
    place = _Place(target, kubectl, outputs["cluster_name"])
    described = eks.describe_cluster(name=place.cluster)["cluster"]
    mode = (described.get("accessConfig") or {}).get("authenticationMode", "CONFIG_MAP")
    found: dict[_Lost, list[str]] = {}
    for name, group in outputs.get("node_groups", {}).items():
        role_arn = group.get("role_arn")
        if not role_arn:
            continue
        role = _Role(role_arn, managed=bool(group.get("node_group")))
        entry = None if mode == "CONFIG_MAP" else _access_entry(eks, place.cluster, role_arn)
        lost = _refused(role, mode, entry, aws_auth, place)
        if lost:
            found.setdefault(lost, []).append(name)
    return [LostAccess(tuple(groups), *lost) for lost, groups in found.items()]


@dataclass(frozen=True, slots=True)
class _Place:
    target: Target
    kubectl: str
    cluster: str

    def ours(self) -> tuple[str, ...]:
        """Return the commands for what the program makes: `up` alone trusts the state."""
        return self.target.command("refresh"), self.target.command("up")

    def entry(self, verb: str, role_arn: str) -> str:
        """Return the command that creates or deletes an access entry."""
        kind = f" --type {_ENTRY_TYPE}" if verb == "create" else ""
        return (
            f"aws eks {verb}-access-entry --region {self.target.region} --cluster-name "
            f"{shell_word(self.cluster)} --principal-arn {shell_word(role_arn)}{kind}"
        )


@dataclass(frozen=True, slots=True)
class _Role:
    arn: str
    managed: bool
    """Whether EKS lets it in, and not the program."""


_Lost = tuple[str, tuple[str, ...], str]
"""Why, the commands, and the answer of the API server, as in `LostAccess`."""
_NOBODY, _NO_NODE = "Unauthorized", "Forbidden"


def _access_entry(eks: Any, cluster: str, role_arn: str) -> Mapping[str, Any] | None:
    try:
        answer = eks.describe_access_entry(clusterName=cluster, principalArn=role_arn)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") != "ResourceNotFoundException":
            raise
        return None
    return answer["accessEntry"]


def _refused(
    role: _Role,
    mode: str,
    entry: Mapping[str, Any] | None,
    aws_auth: Mapping[str, str] | None,
    place: _Place,
) -> _Lost | None:
    """Return why the role is not let in, and the commands; None if it is."""
    if entry is not None:
        groups = entry.get("kubernetesGroups") or ()
        if entry.get("type") == _ENTRY_TYPE or _GROUPS.intersection(groups):
            return None
        why = (
            f"the access entry of {role.arn} has the type {entry.get('type')} and not "
            f"{_ENTRY_TYPE}, and takes precedence over aws-auth"
        )
        replaced = place.entry("delete", role.arn), place.entry("create", role.arn)
        return why, replaced, _NO_NODE
    if mode == "API":
        why = f"{role.arn} has no access entry, and EKS reads no aws-auth in the mode API"
        return why, _restored(role, mode, place), _NOBODY
    return _not_in_map(role, mode, aws_auth, place)


def _restored(role: _Role, mode: str, place: _Place) -> tuple[str, ...]:
    if not role.managed:
        return place.ours()
    if mode == "CONFIG_MAP":
        # EKS adds the access entries of its node groups with the change of the mode.
        stack_file = place.target.stack_file.path.name
        change = set_command(_MODE, "API_AND_CONFIG_MAP", stack_file=stack_file)
        return change, place.target.command("up")
    return place.entry("create", role.arn), place.target.command("up")


def _not_in_map(
    role: _Role, mode: str, aws_auth: Mapping[str, str] | None, place: _Place
) -> _Lost | None:
    restored = _restored(role, mode, place)
    without = "" if mode == "CONFIG_MAP" else ", and the role has no access entry"
    if aws_auth is None:
        return f"the ConfigMap kube-system/aws-auth does not exist{without}", restored, _NOBODY
    text = aws_auth.get("mapRoles")
    try:
        mapped = find_role(text, role.arn)
        listed = [] if mapped else listed_roles(text)
    except MapRolesError as error:
        said = str(error).removesuffix(f"; {HOW_TO_REPAIR}")
        edit = f"{place.kubectl} --namespace kube-system edit configmap aws-auth"
        return f"{said}{without}", (edit, place.target.command("up")), _NOBODY
    if mapped is None:
        wanted = pathless_role_arn(role.arn).lower()
        similar = next((arn for arn in listed if _pathless(arn) == wanted), None)
        why = (
            f"aws-auth has {similar} with its path, which never matches a caller"
            if similar
            else f"aws-auth has no entry of {role.arn}"
        )
        return f"{why}{without}", restored, _NOBODY
    if _GROUPS.isdisjoint(mapped.groups):
        groups = ", ".join(mapped.groups) or "none"
        why = f"the groups of {role.arn} in aws-auth are {groups}, without system:nodes"
        return why, restored, _NO_NODE
    if mapped.username != NODE_USERNAME and "system:masters" not in mapped.groups:
        why = (
            f"the username of {role.arn} in aws-auth is {mapped.username or 'empty'!r}, and not "
            f"{NODE_USERNAME}"
        )
        return why, restored, _NO_NODE
    return None


def _pathless(arn: str) -> str:
    try:
        return pathless_role_arn(arn).lower()
    except ValueError:
        return ""
