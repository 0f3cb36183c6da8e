"""Pod Identity associations: the IAM role for the pods of a service account.

https://docs.aws.amazon.com/eks/latest/APIReference/API_PodIdentityAssociation.html
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from moto.core.responses import ActionResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.cluster_updates import ClusterUpdateCalls
from trainyard.sandbox.aws.eks.errors import in_use, invalid_parameter, not_found
from trainyard.sandbox.aws.eks.roles import check_role, role_named_in
from trainyard.sandbox.aws.eks.store import Cluster, page

_ADDON_NAMESPACES = {"cloudwatch-agent": "amazon-cloudwatch"}
"""Namespace of an add-on's service account; `kube-system` for all others."""
_SERVICE = "pods.eks.amazonaws.com"
_ACTIONS = frozenset({"sts:AssumeRole", "sts:TagSession"})
_SUMMARY = (
    "clusterName",
    "namespace",
    "serviceAccount",
    "associationArn",
    "associationId",
    "ownerArn",
)


class PodIdentityCalls(ClusterUpdateCalls):
    """Calls on associations; mixed into the EKS response class."""

    def create_pod_identity_association(self) -> ActionResult:
        """CreatePodIdentityAssociation."""
        parameters: Mapping[str, Any] = self.params
        cluster = self.active_cluster(parameters["clusterName"])
        association = self.associate(
            cluster,
            parameters["namespace"],
            parameters["serviceAccount"],
            parameters["roleArn"],
            tags=parameters.get("tags") or {},
        )
        return ActionResult({"association": association})

    def describe_pod_identity_association(self) -> ActionResult:
        """DescribePodIdentityAssociation."""
        cluster = self.store.cluster(self.params["clusterName"])
        return ActionResult({"association": self._association(cluster)})

    def list_pod_identity_associations(self) -> ActionResult:
        """ListPodIdentityAssociations: summaries, optionally of a namespace or service account."""
        cluster = self.store.cluster(self.params["clusterName"])
        ids = [
            identifier
            for identifier, each in cluster.pod_identities.items()
            if self.params.get("namespace") in (None, each["namespace"])
            and self.params.get("serviceAccount") in (None, each["serviceAccount"])
        ]
        found, token = page(ids, self.params.get("nextToken"), self.params.get("maxResults"))
        summaries = [
            {key: cluster.pod_identities[each].get(key) for key in _SUMMARY} for each in found
        ]
        return ActionResult({"associations": summaries, "nextToken": token})

    def update_pod_identity_association(self) -> ActionResult:
        """UpdatePodIdentityAssociation: changes the role, except for an add-on's association."""
        cluster = self.active_cluster(self.params["clusterName"])
        association = self._free_association(cluster)
        if self.params.get("roleArn"):
            self._check_trust(cluster, self.params["roleArn"])
            association.update(roleArn=self.params["roleArn"], modifiedAt=CLOCK.now())
        return ActionResult({"association": association})

    def delete_pod_identity_association(self) -> ActionResult:
        """DeletePodIdentityAssociation."""
        cluster = self.active_cluster(self.params["clusterName"])
        association = self._free_association(cluster)
        del cluster.pod_identities[association["associationId"]]
        return ActionResult({"association": association})

    def associate(
        self,
        cluster: Cluster,
        namespace: str,
        service_account: str,
        role_arn: str,
        *,
        tags: Mapping[str, str] | None = None,
        owner_arn: str | None = None,
    ) -> dict[str, Any]:
        """Associate a role with a service account; return the described association.

        Raises:
            ResourceInUseException: The service account already has one.
            InvalidParameterException: The role does not exist, or its trust policy does not allow
                it.
        """
        for each in cluster.pod_identities.values():
            if (each["namespace"], each["serviceAccount"]) == (namespace, service_account):
                in_use(
                    "Association already exists: " + each["associationId"],
                    clusterName=cluster.name,
                )
        self._check_trust(cluster, role_arn)
        identifier = f"a-{mock_random.get_random_hex(17)}"
        now = CLOCK.now()
        cluster.pod_identities[identifier] = {
            "clusterName": cluster.name,
            "namespace": namespace,
            "serviceAccount": service_account,
            "roleArn": role_arn,
            "associationArn": self.arn("podidentityassociation", cluster.name, identifier),
            "associationId": identifier,
            "tags": dict(tags or {}),
            "createdAt": now,
            "modifiedAt": now,
            **({"ownerArn": owner_arn} if owner_arn else {}),
        }
        return cluster.pod_identities[identifier]

    def give_roles(
        self, cluster: Cluster, addon_arn: str, wanted: Iterable[Mapping[str, str]]
    ) -> list[str]:
        """Replace the associations of an add-on; return their ARNs."""
        take_roles(cluster, addon_arn)
        return [
            self.associate(
                cluster,
                _ADDON_NAMESPACES.get(each["serviceAccount"], "kube-system"),
                each["serviceAccount"],
                each["roleArn"],
                owner_arn=addon_arn,
            )["associationArn"]
            for each in wanted
        ]

    def _association(self, cluster: Cluster) -> dict[str, Any]:
        identifier = self.params["associationId"]
        if identifier not in cluster.pod_identities:
            not_found(f"Association not found: {identifier}", clusterName=cluster.name)
        return cluster.pod_identities[identifier]

    def _free_association(self, cluster: Cluster) -> dict[str, Any]:
        association = self._association(cluster)
        owner = association.get("ownerArn")
        if owner:
            invalid_parameter(
                f"The association belongs to the add-on {owner}; change it through the add-on.",
                clusterName=cluster.name,
            )
        return association

    def _check_trust(self, cluster: Cluster, role_arn: str) -> None:
        check_role(self.current_account, role_arn, clusterName=cluster.name)
        role = role_named_in(self.current_account, role_arn)
        if not _trusts_pods(role.assume_role_policy_document):
            invalid_parameter(
                f"The trust policy of {role_arn} must let {_SERVICE} do "
                f"{' and '.join(sorted(_ACTIONS))}.",
                clusterName=cluster.name,
            )


def take_roles(cluster: Cluster, addon_arn: str) -> None:
    """Remove the associations of an add-on."""
    for identifier, each in list(cluster.pod_identities.items()):
        if each.get("ownerArn") == addon_arn:
            del cluster.pod_identities[identifier]


def _trusts_pods(document: str) -> bool:
    allowed: set[str] = set()
    for statement in json.loads(unquote(document))["Statement"]:
        principal = statement.get("Principal") or {}
        services = _list(principal.get("Service")) if isinstance(principal, dict) else []
        if statement.get("Effect") == "Allow" and _SERVICE in services:
            allowed |= set(_list(statement.get("Action")))
    return allowed >= _ACTIONS


def _list(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)
