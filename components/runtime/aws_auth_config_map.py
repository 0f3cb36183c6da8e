"""Safe changes of single entries in the `aws-auth` ConfigMap of a cluster.

Others write to it concurrently: EKS for managed node groups, users, other stacks. Every write
therefore contains the resource version that was read, and is retried after a conflict.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError, NameResolutionError

from trainyard.components.plain_text import printable, shortened
from trainyard.components.runtime.aws_auth_plan import (
    MappedRole,
    find_role,
    with_role,
    without_role,
)

NAMESPACE = "kube-system"
NAME = "aws-auth"
FIELD_MANAGER = "trainyard"
MADE_BY_US = {"app.kubernetes.io/managed-by": "trainyard"}
"""Label of a ConfigMap that this program created; no other ConfigMap is deleted."""

_REQUEST_SECONDS = 30
_GIVE_UP_SECONDS = 120
"""A new endpoint can take a minute to be reachable, and write conflicts need retries."""
_CONFLICT, _NOT_FOUND, _TOO_MANY_REQUESTS = 409, 404, 429
_REFUSED = {
    401: (
        "the cluster does not know the identity of the kubeconfig: see that its command "
        "(`aws eks get-token`) works here, and that the cluster was made by this identity or "
        "has an access entry for it"
    ),
    403: (
        "the identity of the kubeconfig may not do this: associate the access policy "
        "AmazonEKSClusterAdminPolicy with it"
    ),
}

Result = TypeVar("Result")


class AwsAuthError(RuntimeError):
    """`aws-auth` cannot be read or written; the message contains no credentials."""


class ClusterGoneError(AwsAuthError):
    """The cluster's endpoint does not exist, such as after the cluster was deleted."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The ConfigMap as it was read."""

    resource_version: str
    data: Mapping[str, str]
    made_by_us: bool


class AwsAuthConfigMap:
    """The ConfigMap `kube-system/aws-auth` of the cluster of a kubeconfig.

    Args:
        kubeconfig: YAML or JSON; never in logs or messages.
        give_up_seconds: how long to retry a conflict or an unreachable endpoint.
    """

    def __init__(self, kubeconfig: str, *, give_up_seconds: float = _GIVE_UP_SECONDS) -> None:
        self.server = server_of(kubeconfig)
        # The client declares unions as return types, so this is untyped.
        self._api: Any = _client(kubeconfig)
        self._give_up_seconds = give_up_seconds

    def find(self, role_arn: str) -> MappedRole | None:
        """Return the entry of a role, or None without an entry or ConfigMap.

        Raises:
            AwsAuthError: the cluster cannot be read.
            MapRolesError: `mapRoles` is not a YAML list.
        """
        found = self._read()
        return find_role(found.data.get("mapRoles"), role_arn) if found else None

    def put(self, role: MappedRole, dropped_groups: Collection[str] = ()) -> MappedRole | None:
        """Write the entry of a role; create the ConfigMap if it does not exist.

        Writes nothing if the entry is up to date; see `with_role` for its groups. Returns the
        previous entry of the role, if any.

        Raises:
            AwsAuthError: the cluster cannot be written.
            MapRolesError: `mapRoles` is not a YAML list.
        """
        return self._until_done(lambda: self._put(role, dropped_groups), also=ClusterGoneError)

    def take_out(self, role_arn: str) -> None:
        """Remove the entry of a role; do nothing without an entry or ConfigMap.

        A ConfigMap that `put` created is deleted when it is empty.

        Raises:
            ClusterGoneError: the endpoint does not exist.
            AwsAuthError: the cluster cannot be written.
            MapRolesError: `mapRoles` is not a YAML list.
        """
        self._until_done(lambda: self._take_out(role_arn))

    def _put(self, role: MappedRole, dropped_groups: Collection[str]) -> MappedRole | None:
        found = self._read()
        if found is None:
            body = client.V1ConfigMap(
                metadata=client.V1ObjectMeta(name=NAME, namespace=NAMESPACE, labels=MADE_BY_US),
                data={"mapRoles": with_role(None, role)},
            )
            self._api.create_namespaced_config_map(
                NAMESPACE, body, field_manager=FIELD_MANAGER, _request_timeout=_REQUEST_SECONDS
            )
            return None
        text = found.data.get("mapRoles")
        self._write(found, text, with_role(text, role, dropped_groups))
        return find_role(text, role.role_arn)

    def _take_out(self, role_arn: str) -> None:
        found = self._read()
        if found is None:
            return
        text = found.data.get("mapRoles")
        remaining = without_role(text, role_arn)
        if remaining is None and found.made_by_us and not set(found.data) - {"mapRoles"}:
            precondition = client.V1Preconditions(resource_version=found.resource_version)
            self._api.delete_namespaced_config_map(
                NAME,
                NAMESPACE,
                body=client.V1DeleteOptions(preconditions=precondition),
                _request_timeout=_REQUEST_SECONDS,
            )
            return
        self._write(found, text, remaining)

    def _read(self) -> _Found | None:
        try:
            made = self._call(
                lambda: _found(
                    self._api.read_namespaced_config_map(
                        NAME, NAMESPACE, _request_timeout=_REQUEST_SECONDS
                    )
                )
            )
        except ApiException as error:
            if error.status == _NOT_FOUND:
                return None
            raise self._explained(error) from None
        except (ValueError, TypeError, AttributeError):
            raise AwsAuthError(
                f"the Kubernetes API at {self.server} answers with what is no ConfigMap; see what "
                "stands between this machine and the cluster (a proxy, a gateway) and run again"
            ) from None
        return made

    def _write(self, found: _Found, old: str | None, new: str | None) -> None:
        if new == old:
            return
        # A merge patch changes one key, and fails with a conflict if the version differs.
        body = {
            "metadata": {"resourceVersion": found.resource_version},
            "data": {"mapRoles": new},
        }
        self._api.patch_namespaced_config_map(
            NAME,
            NAMESPACE,
            body,
            field_manager=FIELD_MANAGER,
            _content_type="application/merge-patch+json",
            _request_timeout=_REQUEST_SECONDS,
        )

    def _until_done(
        self, attempt: Callable[[], Result], also: type[Exception] | tuple[()] = ()
    ) -> Result:
        """Read, change and write, and retry after concurrent writes."""
        deadline = time.monotonic() + self._give_up_seconds
        wait = 0.05
        while True:
            try:
                return self._call(attempt)
            except ApiException as error:
                again = error.status in (_CONFLICT, _NOT_FOUND, _TOO_MANY_REQUESTS)
                if not again or time.monotonic() > deadline:
                    raise self._explained(error) from None
            except also:
                if time.monotonic() > deadline:
                    raise
            time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 (spreads writers, no secret)
            wait = min(wait * 2, 5)

    def _call(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except HTTPError as error:
            # No DNS name or a closed port: the endpoint does not exist. A timeout does not prove
            # that.
            gone = isinstance(error, NameResolutionError) or isinstance(
                error.__cause__, ConnectionRefusedError
            )
            kind = ClusterGoneError if gone else AwsAuthError
            raise kind(
                f"the Kubernetes API at {self.server} does not answer ({error}); see that this "
                "machine reaches the cluster's endpoint (a private one needs a way into the VPC) "
                "and run again"
            ) from None

    def _explained(self, error: ApiException) -> AwsAuthError:
        try:
            said = str(json.loads(error.body or "")["message"])
        except (ValueError, KeyError, TypeError):
            said = str(error.reason)
        remedy = _REFUSED.get(error.status or 0, "run again")
        return AwsAuthError(
            f"the Kubernetes API at {self.server} refuses access to the ConfigMap "
            f"{NAMESPACE}/{NAME} ({error.status}: {printable(shortened(said, 500))}); {remedy}"
        )


def _found(made: Any) -> _Found:
    labels, data = made.metadata.labels or {}, made.data or {}
    return _Found(made.metadata.resource_version, data, MADE_BY_US.items() <= labels.items())


def server_of(kubeconfig: str) -> str:
    """Return the API server URL of a kubeconfig.

    Raises:
        AwsAuthError: it is not a kubeconfig.
    """
    try:
        parsed = _parsed(kubeconfig)
        contexts = {entry["name"]: entry["context"] for entry in parsed["contexts"]}
        clusters = {entry["name"]: entry["cluster"] for entry in parsed["clusters"]}
        return str(clusters[contexts[parsed["current-context"]]["cluster"]]["server"])
    except (KeyError, TypeError):
        # Not chained, because the cause could quote the kubeconfig.
        raise AwsAuthError(_NOT_A_KUBECONFIG) from None


_NOT_A_KUBECONFIG = (
    "the kubeconfig that aws-auth is written with is not one (contexts, clusters and "
    "current-context are needed); take it from the cluster's output `kubeconfig`"
)


def _parsed(kubeconfig: str) -> dict[str, Any]:
    try:
        return yaml.safe_load(kubeconfig)
    except yaml.YAMLError:
        raise AwsAuthError(_NOT_A_KUBECONFIG) from None


def _client(kubeconfig: str) -> client.CoreV1Api:
    settings = client.Configuration()
    # This class retries including the read; the client setting accepts only None or more.
    settings.retries = False  # pyright: ignore[reportAttributeAccessIssue]
    try:
        api = config.new_client_from_config_dict(
            _parsed(kubeconfig), client_configuration=settings, persist_config=False
        )
    except config.ConfigException:
        raise AwsAuthError(_NOT_A_KUBECONFIG) from None
    return client.CoreV1Api(api)
