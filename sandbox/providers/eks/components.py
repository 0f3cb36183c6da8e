"""The small components inside the cluster: its role, and the VPC CNI."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pulumi

from sandbox.providers.eks.child import Child

POLICY = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
HASH_DIGITS = 8
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": ["sts:AssumeRole"],
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com"]},
        }
    ],
}


class ServiceRole(pulumi.ComponentResource):
    """The role that the control plane works with.

    Children: `<name>-role` and its attachment, named after the policy's hash.
    """

    role: Child

    def __init__(
        self, name: str, tags: Mapping[str, str] | None, opts: pulumi.ResourceOptions
    ) -> None:
        super().__init__("eks:index:ServiceRole", name, {}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        self.role = Child(
            "aws:iam/role:Role",
            f"{name}-role",
            {
                "description": "Allows EKS to manage clusters on your behalf.",
                "assumeRolePolicy": json.dumps(TRUST),
                "tags": tags,
            },
            outputs=("arn", "name"),
            opts=inside,
        )
        digest = hashlib.sha1(POLICY.encode(), usedforsecurity=False).hexdigest()
        self.attachment = Child(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            f"{name}-{digest[:HASH_DIGITS]}",
            {"role": self.role.output("name"), "policyArn": POLICY},
            opts=inside,
        )
        self.register_outputs({"role": self.role})


class VpcCniAddon(pulumi.ComponentResource):
    """The add-on that gives pods their addresses. Child: the add-on, of the same name."""

    def __init__(
        self,
        name: str,
        cluster: pulumi.Input[str],
        options: Mapping[str, Any],
        tags: Mapping[str, str] | None,
        opts: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("eks:index:VpcCniAddon", name, {}, opts)
        configuration = {"env": {"WARM_ENI_TARGET": "1"}}
        self.addon = addon(
            name,
            cluster,
            "vpc-cni",
            {
                **options,
                "configurationValues": json.dumps(configuration, separators=(",", ":")),
            },
            tags,
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"addon": self.addon})


def addon(
    name: str,
    cluster: pulumi.Input[str],
    addon_name: str,
    options: Mapping[str, Any],
    tags: Mapping[str, str] | None,
    opts: pulumi.ResourceOptions,
) -> Child:
    """Register an EKS add-on as the package does."""
    return Child(
        "aws:eks/addon:Addon",
        name,
        {
            "clusterName": cluster,
            "addonName": addon_name,
            "preserve": True,
            "resolveConflictsOnCreate": "OVERWRITE",
            "resolveConflictsOnUpdate": "OVERWRITE",
            "tags": tags,
            **options,
        },
        opts=opts,
    )
