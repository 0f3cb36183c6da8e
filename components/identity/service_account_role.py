"""The IAM role of the pods of one Kubernetes service account.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
    https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html: the tags of a session
    https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.identity.node_role import once_made
from trainyard.components.naming import IAM_ROLE_NAME_LIMIT, fitted, managed_policy_arns


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcProvider:
    """The IAM OIDC provider of a cluster."""

    arn: pulumi.Input[str]
    url: pulumi.Input[str]
    """With or without `https://`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountRoleArgs:
    """Arguments of `ServiceAccountRole`."""

    namespace: str
    service_account: str
    policy: str
    """Name of an AWS managed policy, with its path if it has one."""
    cluster_arn: pulumi.Input[str]
    """The cluster of the pods."""
    oidc_provider: OidcProvider | None
    """OIDC provider of the cluster; None for EKS Pod Identity."""
    region: str
    """Region of the stack, for the partition of the policy."""
    tags: Mapping[str, str]


class ServiceAccountRole(pulumi.ComponentResource):
    """A role for the pods of one service account, with one AWS managed policy.

    Children: `<name>-role` (`aws.iam.Role`), shortened to the length limit of IAM, and
    `<name>-policy` (`aws.iam.RolePolicyAttachment`).
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when the policy is attached."""

    def __init__(
        self,
        name: str,
        args: ServiceAccountRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:identity:ServiceAccountRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            fitted(f"{name}-role", IAM_ROLE_NAME_LIMIT),
            description=f"Pods of {args.namespace}/{args.service_account}",
            assume_role_policy=_trust(args),
            tags=dict(args.tags),
            opts=child,
        )
        (policy_arn,) = managed_policy_arns((args.policy,), args.region)
        attachment = aws.iam.RolePolicyAttachment(
            f"{name}-policy", role=role.name, policy_arn=policy_arn, opts=child
        )
        self.arn = once_made(role.arn, [attachment])
        self.register_outputs({"arn": self.arn})


def _trust(args: ServiceAccountRoleArgs) -> pulumi.Input[str]:
    provider, namespace, account = args.oidc_provider, args.namespace, args.service_account
    if provider is None:
        return pulumi.Output.from_input(args.cluster_arn).apply(
            lambda arn: pod_identity_trust(arn, namespace, account)
        )
    subject = f"system:serviceaccount:{namespace}:{account}"
    return pulumi.Output.all(arn=provider.arn, url=provider.url).apply(
        lambda known: oidc_trust(known["arn"], known["url"], subject)
    )


def pod_identity_trust(cluster_arn: str, namespace: str, service_account: str) -> str:
    """Return the trust policy of a role for EKS Pod Identity: pods of one service account.

    `TagSession` is required: EKS tags each session with cluster, namespace and service account. The
    same tags are in the condition, because every association of the account could use the role
    without them. There is no `aws:SourceArn`: the user guide does not name it, and EKS does not
    send the ARN of the association (https://github.com/awslabs/mountpoint-s3-csi-driver/issues/781,
    where `aws:SourceAccount` works and `aws:SourceArn` does not).
    """
    return _policy(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:SourceAccount": cluster_arn.split(":")[4],
                    "aws:RequestTag/eks-cluster-arn": cluster_arn,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                }
            },
        }
    )


def oidc_trust(provider_arn: str, provider_url: str, subject: str) -> str:
    """Return the trust policy for one subject of a cluster's OIDC provider."""
    issuer = provider_url.removeprefix("https://")
    return _policy(
        {
            "Effect": "Allow",
            "Principal": {"Federated": provider_arn},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                "StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subject}
            },
        }
    )


def _policy(statement: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
