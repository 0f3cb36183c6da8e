"""One role's entry in the `aws-auth` ConfigMap, as a resource of its own.

A ConfigMap of the Kubernetes provider cannot hold it: `mapRoles` is one string, so whoever
declares it owns all of it, wipes the roles of others, and deletes them all on destroy. This
resource reads what is there, changes its own entry, and keeps the rest to the letter.

The state of a stack names this module and `AwsAuthProvider`: they can be changed, but neither
moved nor renamed. The provider has no state and imports within its methods, so that what the
engine stores of it never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)
from pulumi.runtime.rpc import UNKNOWN

if TYPE_CHECKING:
    from components.runtime.aws_auth_config_map import AwsAuthConfigMap
    from components.runtime.aws_auth_plan import MappedRole


class AwsAuthProvider(ResourceProvider):
    """What the engine does with an `AwsAuthEntry`."""

    serialize_as_secret_always = False

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        """Refuse what could never authorize anybody."""
        from components.runtime.aws_auth_plan import pathless_role_arn

        failures: list[CheckFailure] = []
        if _known(news["role_arn"]):
            try:
                pathless_role_arn(news["role_arn"])
            except ValueError as error:
                failures.append(CheckFailure("role_arn", str(error)))
        if not news["username"]:
            failures.append(CheckFailure("username", "a role without a user name has no access"))
        return CheckResult(news, failures)

    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> DiffResult:
        """Another role or another cluster is another entry; new credentials are kept in state.

        A kubeconfig that is not known yet is taken for the old one: it comes from the cluster,
        and a change of the cluster in place does not change its endpoint.
        """
        replaces: list[str] = []
        changed = any(_olds[key] != _news[key] for key in ("username", "groups"))
        if _olds["role_arn"] != _news["role_arn"]:
            replaces.append("role_arn")
        if _known(_news["kubeconfig"]) and _news["kubeconfig"] != _olds["kubeconfig"]:
            from components.runtime.aws_auth_config_map import server_of

            changed = True
            if server_of(_olds["kubeconfig"]) != server_of(_news["kubeconfig"]):
                replaces.append("kubeconfig")
        return DiffResult(changes=changed or bool(replaces), replaces=replaces)

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Add the entry; where the role has one, adopt it, and say what it said before."""
        role = _role(props)
        before = _config_map(props).put(role)
        if before and (before.username, set(before.groups)) != (role.username, set(role.groups)):
            pulumi.log.warn(
                f"aws-auth had an entry for {role.role_arn} already, with the user name "
                f"{before.username!r} and the groups {list(before.groups)}: it now has our user "
                "name and our groups beside its own"
            )
        return CreateResult(role.role_arn, _outputs(props))

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        """Return the entry as it is, or nothing where it or its cluster is gone."""
        from components.runtime.aws_auth_config_map import ClusterGoneError

        try:
            found = _config_map(props).find(props["role_arn"])
        except ClusterGoneError:
            found = None
        if found is None:
            return ReadResult("", {})
        # Groups that others added to the entry are theirs: they are no difference.
        groups = [group for group in props["groups"] if group in found.groups]
        return ReadResult(id_, {**_outputs(props), "username": found.username, "groups": groups})

    def update(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> UpdateResult:
        """Write the entry anew; groups that are no longer asked for leave it."""
        _config_map(_news).put(_role(_news), dropped_groups=_olds["groups"])
        return UpdateResult(_outputs(_news))

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        """Take the entry out; a cluster that is gone has none."""
        from components.runtime.aws_auth_config_map import ClusterGoneError

        try:
            _config_map(_props).take_out(_props["role_arn"])
        except ClusterGoneError as error:
            pulumi.log.warn(f"the entry in aws-auth is taken as gone: {error}")


def _known(value: object) -> bool:
    # Unknown in a preview: the engine's mark, or an object of the SDK that stands for it.
    return isinstance(value, str) and value != UNKNOWN


def _role(props: dict[str, Any]) -> MappedRole:
    from components.runtime.aws_auth_plan import MappedRole, pathless_role_arn

    return MappedRole(
        pathless_role_arn(props["role_arn"]), props["username"], tuple(props["groups"])
    )


def _config_map(props: dict[str, Any]) -> AwsAuthConfigMap:
    from components.runtime.aws_auth_config_map import AwsAuthConfigMap

    return AwsAuthConfigMap(props["kubeconfig"])


def _outputs(props: dict[str, Any]) -> dict[str, Any]:
    return {key: props[key] for key in ("kubeconfig", "role_arn", "username", "groups")}


class AwsAuthEntry(Resource, module="aws-auth", name="Entry"):
    """The entry that makes one IAM role a user of the cluster, in `kube-system/aws-auth`.

    The entry of the role belongs to this resource: it is adopted where it exists, and taken out
    on delete. No other entry is changed, nor a comment; the ConfigMap is made where there is
    none, and deleted with the last entry only if it was made here.

    Changing the role or the cluster replaces the entry.
    """

    role_arn: pulumi.Output[str]
    """ARN of the role as it was given, with its path if it has one."""

    def __init__(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Input[str],
        role_arn: pulumi.Input[str],
        username: str,
        groups: Sequence[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare the entry.

        Args:
            name: logical name.
            kubeconfig: an administrator's, as YAML or JSON; kept as a secret.
            role_arn: role whose callers get access; its path is left out of the entry.
            username: user name in Kubernetes, such as `system:node:{{EC2PrivateDNSName}}`.
            groups: groups in Kubernetes; those that others add to the entry stay.
            opts: options of the resource.
        """
        props = {
            "kubeconfig": pulumi.Output.secret(kubeconfig),
            "role_arn": role_arn,
            "username": username,
            "groups": list(groups),
        }
        secret = pulumi.ResourceOptions(additional_secret_outputs=["kubeconfig"])
        super().__init__(AwsAuthProvider(), name, props, pulumi.ResourceOptions.merge(opts, secret))
