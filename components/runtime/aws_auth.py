"""One role's entry in the `aws-auth` ConfigMap, as a Pulumi resource.

A ConfigMap of the Kubernetes provider is not suitable: `mapRoles` is one string, so a resource that
declares it owns all of it, overwrites the roles of others, and deletes them on destroy. This
resource reads the ConfigMap, changes only its own entry, and keeps the rest unchanged.

States refer to the provider as `trainyard_state:AWS_AUTH`. States of version 0.1 name this module
`components.runtime.aws_auth`, which is importable in the root of a clone: do not move this file or
rename `AwsAuthProvider`. The provider has no attributes and imports within its methods.
"""

from __future__ import annotations

import base64
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dill
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

if importlib.util.find_spec("trainyard") is None:
    # Loaded by the name of version 0.1, in the root of a clone.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "src"))

if TYPE_CHECKING:
    from trainyard.components.runtime.aws_auth_config_map import AwsAuthConfigMap
    from trainyard.components.runtime.aws_auth_plan import MappedRole


class AwsAuthProvider(ResourceProvider):
    """The dynamic provider of `AwsAuthEntry`."""

    serialize_as_secret_always = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Serialize as a name that exists in a clone and in an installed package."""
        return pkgutil.resolve_name, ("trainyard_state:AWS_AUTH",)

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        """Refuse an entry that cannot authorize anyone."""
        from trainyard.components.runtime.aws_auth_plan import pathless_role_arn

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
        """Replace the entry for another role or cluster; keep new credentials in the state.

        An unknown kubeconfig counts as unchanged: it comes from the cluster, and an in-place update
        of the cluster does not change its endpoint. A stack that moves from a clone to an installed
        package gets an update that changes only the state, because `refresh` and `destroy` load the
        provider by the name in the state.
        """
        replaces: list[str] = []
        changed = any(_olds[key] != _news[key] for key in ("username", "groups"))
        changed = changed or not _is_importable(_olds.get("__provider"))
        if _olds["role_arn"] != _news["role_arn"]:
            replaces.append("role_arn")
        if _known(_news["kubeconfig"]) and _news["kubeconfig"] != _olds["kubeconfig"]:
            from trainyard.components.runtime.aws_auth_config_map import server_of

            changed = True
            if server_of(_olds["kubeconfig"]) != server_of(_news["kubeconfig"]):
                replaces.append("kubeconfig")
        return DiffResult(changes=changed or bool(replaces), replaces=replaces)

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Add the entry, or adopt an existing entry of the role and log its previous content."""
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
        """Return the current entry, or nothing if the entry or the cluster no longer exists."""
        from trainyard.components.runtime.aws_auth_config_map import ClusterGoneError

        try:
            found = _config_map(props).find(props["role_arn"])
        except ClusterGoneError:
            found = None
        if found is None:
            return ReadResult("", {})
        # Groups that others added to the entry do not count as a difference.
        groups = [group for group in props["groups"] if group in found.groups]
        return ReadResult(id_, {**_outputs(props), "username": found.username, "groups": groups})

    def update(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> UpdateResult:
        """Rewrite the entry and remove groups that the program no longer sets."""
        _config_map(_news).put(_role(_news), dropped_groups=_olds["groups"])
        return UpdateResult(_outputs(_news))

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        """Remove the entry; do nothing if the cluster no longer exists."""
        from trainyard.components.runtime.aws_auth_config_map import ClusterGoneError

        try:
            _config_map(_props).take_out(_props["role_arn"])
        except ClusterGoneError as error:
            pulumi.log.warn(f"the entry in aws-auth is taken as gone: {error}")


def _is_importable(provider: str | None) -> bool:
    """Return whether this process finds the provider that a state names."""
    if provider is None:
        return True
    try:
        dill.loads(base64.b64decode(provider))  # noqa: S301 - as the SDK does for each operation
    except ImportError:
        return False
    return True


def _known(value: object) -> bool:
    # Unknown in a preview: the marker of the engine, or an object of the SDK.
    return isinstance(value, str) and value != UNKNOWN


def _role(props: dict[str, Any]) -> MappedRole:
    from trainyard.components.runtime.aws_auth_plan import MappedRole, pathless_role_arn

    return MappedRole(
        pathless_role_arn(props["role_arn"]), props["username"], tuple(props["groups"])
    )


def _config_map(props: dict[str, Any]) -> AwsAuthConfigMap:
    from trainyard.components.runtime.aws_auth_config_map import AwsAuthConfigMap

    return AwsAuthConfigMap(props["kubeconfig"])


def _outputs(props: dict[str, Any]) -> dict[str, Any]:
    return {key: props[key] for key in ("kubeconfig", "role_arn", "username", "groups")}


class AwsAuthEntry(Resource, module="aws-auth", name="Entry"):
    """The entry in `kube-system/aws-auth` that maps one IAM role to a Kubernetes user.

    This resource owns the entry of the role: it adopts an existing entry and removes it on delete.
    Other entries and comments are not changed. The ConfigMap is created if it does not exist, and
    deleted with the last entry only if this program created it.

    Changing the role or the cluster replaces the entry.
    """

    role_arn: pulumi.Output[str]
    """ARN of the role as passed, including its path."""

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
            kubeconfig: kubeconfig of an administrator, as YAML or JSON; kept as a secret.
            role_arn: role that gets access; the entry omits its path.
            username: user name in Kubernetes, such as `system:node:{{EC2PrivateDNSName}}`.
            groups: groups in Kubernetes; groups that others add to the entry are kept.
            opts: resource options.
        """
        props = {
            "kubeconfig": pulumi.Output.secret(kubeconfig),
            "role_arn": role_arn,
            "username": username,
            "groups": list(groups),
        }
        secret = pulumi.ResourceOptions(additional_secret_outputs=["kubeconfig"])
        super().__init__(AwsAuthProvider(), name, props, pulumi.ResourceOptions.merge(opts, secret))
