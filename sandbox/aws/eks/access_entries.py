"""Access entries and the access policies associated with them.

https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.access_policies import check_policy
from trainyard.sandbox.aws.eks.cluster_updates import ClusterUpdateCalls
from trainyard.sandbox.aws.eks.errors import in_use, invalid_parameter, invalid_request, not_found
from trainyard.sandbox.aws.eks.roles import role_named_in
from trainyard.sandbox.aws.eks.store import AccessEntry, Cluster, page

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
