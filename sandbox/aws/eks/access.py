"""Access to a cluster: entries, access policies, and Pod Identity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.clusters import ClusterUpdateCalls, check_role, role_named_in
from trainyard.sandbox.aws.eks.store import (
    AccessEntry,
    Cluster,
    in_use,
    invalid_parameter,
    invalid_request,
    not_found,
    page,
)
from trainyard.sandbox.kubernetes.credentials import GROUPS

# The emulated EKS access policies, and the groups that represent them.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html


_ARN = re.compile(r"arn:aws(-[a-z-]+)?:eks::aws:cluster-access-policy/(Amazon\w+Policy)")


def check_policy(policy_arn: str, scope: str) -> None:
    """Reject an unknown or unsupported policy.

    Raises:
        InvalidParameterException: it is not the ARN of a policy.
        NotImplementedError: it is limited to namespaces.
    """
    match = _ARN.fullmatch(policy_arn)
    if match is None or match[2] not in GROUPS:
        invalid_parameter("The policyArn parameter format is not valid")
    if scope != "cluster":
        raise NotImplementedError(
            f"the sandbox plays access policies for a whole cluster, none of the scope {scope}"
        )


def groups_of(policy_arns: Iterable[str]) -> list[str]:
    """Return the groups that represent access policies."""
    return sorted({GROUPS[arn.rpartition("/")[2]] for arn in policy_arns})


# Access entries and the access policies associated with them.
#
# https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html


NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"
NODE_GROUPS = ("system:nodes",)

_NODE_TYPES = ("EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX")


def make_node_entry(cluster: Cluster, arn: str, role_arn: str) -> None:
    """Create the EC2_LINUX entry of a managed node group's role, as EKS does; idempotent."""
    if role_arn in cluster.access_entries:
        return
    cluster.access_entries[role_arn] = AccessEntry(
        arn=arn,
        cluster_name=cluster.name,
        principal_arn=role_arn,
        entry_type="EC2_LINUX",
        username=NODE_USERNAME,
        kubernetes_groups=NODE_GROUPS,
        created_at=CLOCK.now(),
        made_by_eks=True,
    )


class AccessEntryCalls(ClusterUpdateCalls):
    """Calls on access entries; mixed into the EKS response class."""

    def create_access_entry(self) -> ActionResult:
        """CreateAccessEntry."""
        parameters: Mapping[str, Any] = self.params
        cluster = self._cluster_with_entries()
        principal = parameters["principalArn"]
        if principal in cluster.access_entries:
            in_use(
                "The specified access entry resource is already in use on this cluster.",
                clusterName=cluster.name,
            )
        if ":role/" in principal and role_named_in(self.current_account, principal) is None:
            invalid_parameter(
                "The specified principalArn is invalid: invalid principal.",
                clusterName=cluster.name,
            )
        kind = parameters.get("type") or "STANDARD"
        groups = tuple(parameters.get("kubernetesGroups") or ())
        username = parameters.get("username")
        _check_names(cluster.name, kind, groups, username)
        if kind in _NODE_TYPES:
            username, groups = NODE_USERNAME, NODE_GROUPS
        entry = AccessEntry(
            arn=self.access_entry_arn(cluster.name, principal),
            cluster_name=cluster.name,
            principal_arn=principal,
            entry_type=kind,
            username=username or _default_username(principal),
            kubernetes_groups=groups,
            created_at=CLOCK.now(),
            tags=dict(parameters.get("tags") or {}),
        )
        cluster.access_entries[principal] = entry
        return ActionResult({"accessEntry": entry.described()})

    def describe_access_entry(self) -> ActionResult:
        """DescribeAccessEntry."""
        return ActionResult({"accessEntry": self._entry().described()})

    def list_access_entries(self) -> ActionResult:
        """ListAccessEntries: principal ARNs, optionally those with a policy."""
        cluster = self._cluster_with_entries()
        policy = self.params.get("associatedPolicyArn")
        principals = [
            entry.principal_arn
            for entry in cluster.access_entries.values()
            if not policy or policy in entry.policies
        ]
        found, token = page(principals, self.params.get("nextToken"), self.params.get("maxResults"))
        return ActionResult({"accessEntries": found, "nextToken": token})

    def update_access_entry(self) -> ActionResult:
        """UpdateAccessEntry: groups and user name of a STANDARD entry."""
        entry = self._entry()
        groups, username = self.params.get("kubernetesGroups"), self.params.get("username")
        _check_names(entry.cluster_name, entry.entry_type, groups or (), username)
        if groups is not None:
            entry.kubernetes_groups = tuple(groups)
        if username:
            entry.username = username
        return ActionResult({"accessEntry": entry.described()})

    def delete_access_entry(self) -> EmptyResult:
        """DeleteAccessEntry."""
        entry = self._entry()
        del self.store.cluster(entry.cluster_name).access_entries[entry.principal_arn]
        return EmptyResult()

    def associate_access_policy(self) -> ActionResult:
        """AssociateAccessPolicy; only STANDARD entries support policies."""
        entry = self._entry()
        policy, scope = self.params["policyArn"], self.params["accessScope"]
        check_policy(policy, scope["type"])
        if entry.entry_type != "STANDARD":
            invalid_request(
                "The access policy can be associated only with an access entry of type STANDARD."
            )
        now = CLOCK.now()
        association = {
            "policyArn": policy,
            "accessScope": {"type": scope["type"], "namespaces": scope.get("namespaces") or []},
            "associatedAt": entry.policies.get(policy, {}).get("associatedAt", now),
            "modifiedAt": now,
        }
        entry.policies[policy] = association
        return ActionResult(
            {
                "clusterName": entry.cluster_name,
                "principalArn": entry.principal_arn,
                "associatedAccessPolicy": association,
            }
        )

    def disassociate_access_policy(self) -> EmptyResult:
        """DisassociateAccessPolicy."""
        entry = self._entry()
        if self.params["policyArn"] not in entry.policies:
            not_found("The specified policyArn is not associated with the access entry.")
        del entry.policies[self.params["policyArn"]]
        return EmptyResult()

    def list_associated_access_policies(self) -> ActionResult:
        """ListAssociatedAccessPolicies."""
        entry = self._entry()
        return ActionResult(
            {
                "clusterName": entry.cluster_name,
                "principalArn": entry.principal_arn,
                "associatedAccessPolicies": list(entry.policies.values()),
            }
        )

    def access_entry_arn(self, cluster_name: str, principal: str) -> str:
        """Return a new ARN for the entry of a principal."""
        kind, _, name = principal.rpartition(":")[2].partition("/")
        return self.arn(
            "access-entry",
            cluster_name,
            kind,
            self.current_account,
            name,
            str(mock_random.uuid4()),
        )

    def _authentication_mode(self, cluster: Cluster, wanted: str) -> ActionResult:
        """Change the mode; when it enables entries, EKS creates those of its node groups.

        Source: https://github.com/terraform-aws-modules/terraform-aws-eks, `docs/UPGRADE-20.0.md`,
        on what AWS adds automatically.
        """
        answer = super()._authentication_mode(cluster, wanted)
        for group in cluster.node_groups.values():
            role = group["nodeRole"]
            make_node_entry(cluster, self.access_entry_arn(cluster.name, role), role)
        return answer

    def _cluster_with_entries(self) -> Cluster:
        cluster = self.active_cluster(self.params["clusterName"])
        if not cluster.uses_access_entries:
            invalid_request(
                "The cluster's authentication mode must be set to one of [API, "
                "API_AND_CONFIG_MAP] to perform this operation.",
                clusterName=cluster.name,
            )
        return cluster

    def _entry(self) -> AccessEntry:
        return self._cluster_with_entries().access_entry(self.params["principalArn"])


def _check_names(
    cluster_name: str, kind: str, groups: tuple[str, ...] | list[str], username: str | None
) -> None:
    if kind in _NODE_TYPES and (groups or username):
        invalid_parameter(
            f"Kubernetes groups and a user name cannot be given to an access entry of type {kind}.",
            clusterName=cluster_name,
        )
    for group in groups:
        if group.startswith("system:"):
            invalid_parameter(
                f"The kubernetes group name {group} is invalid, it cannot start with system:",
                clusterName=cluster_name,
            )
    if username and username.startswith("system:"):
        invalid_parameter(
            f"The user name {username} is invalid, it cannot start with system:",
            clusterName=cluster_name,
        )


def _default_username(principal: str) -> str:
    if ":role/" not in principal:
        return principal
    account = principal.split(":")[4]
    role = principal.rpartition("/")[2]
    return f"arn:aws:sts::{account}:assumed-role/{role}/{{{{SessionName}}}}"


# Pod Identity associations: the IAM role for the pods of a service account.
#
# https://docs.aws.amazon.com/eks/latest/APIReference/API_PodIdentityAssociation.html


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
