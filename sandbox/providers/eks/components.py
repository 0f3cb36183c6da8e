"""Child components of the cluster: its role, and the VPC CNI."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pulumi

from trainyard.sandbox.providers.eks.child import Child, call

POLICY = "iam::aws:policy/AmazonEKSClusterPolicy"
HASH_DIGITS = 8
GET_PARTITION = "aws:index/getPartition:getPartition"
CNI_CONFIGURATION = {
    "env": {
        "AWS_VPC_ENI_MTU": "9001",
        "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false",
        "AWS_VPC_K8S_CNI_EXTERNALSNAT": "false",
        "AWS_VPC_K8S_CNI_LOGLEVEL": "DEBUG",
        "AWS_VPC_K8S_CNI_LOG_FILE": "/host/var/log/aws-routed-eni/ipamd.log",
        "AWS_VPC_K8S_CNI_VETHPREFIX": "eni",
        "AWS_VPC_K8S_PLUGIN_LOG_FILE": "/var/log/aws-routed-eni/plugin.log",
        "AWS_VPC_K8S_PLUGIN_LOG_LEVEL": "DEBUG",
        "ENABLE_POD_ENI": "false",
        "WARM_ENI_TARGET": "1",
    },
    "init": {"env": {"DISABLE_TCP_EARLY_DEMUX": "false"}},
}
"""Defaults of the package: `computeEnv` in `nodejs/eks/addons/cni-addon.ts`."""
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com"]},
        }
    ],
}


class ServiceRole(pulumi.ComponentResource):
    """The service role of the control plane.

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
                "assumeRolePolicy": compact(TRUST),
                "tags": tags,
            },
            outputs=("arn", "name"),
            opts=inside,
        )
        digest = hashlib.sha1(f"arn:aws:{POLICY}".encode(), usedforsecurity=False).hexdigest()
        partition = call(GET_PARTITION, self)
        self.attachment = Child(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            f"{name}-{digest[:HASH_DIGITS]}",
            {
                "role": self.role.output("name"),
                "policyArn": partition.apply(lambda found: f"arn:{found['partition']}:{POLICY}"),
            },
            opts=inside,
        )
        attached = pulumi.Output.all(self.role.output("arn"), self.attachment.id)
        self.register_outputs(
            {"directRole": self.role, "resolvedRole": attached.apply(lambda _: self.role)}
        )


class VpcCniAddon(pulumi.ComponentResource):
    """The add-on that assigns pod IP addresses. Child: the add-on, with the same name."""

    def __init__(
        self,
        name: str,
        cluster: pulumi.Input[str],
        options: Mapping[str, Any],
        tags: Mapping[str, str] | None,
        opts: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("eks:index:VpcCniAddon", name, {}, opts)
        self.addon = addon(
            name,
            cluster,
            "vpc-cni",
            {**options, "configurationValues": compact(CNI_CONFIGURATION)},
            tags,
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"addon": self.addon})


def compact(value: object) -> str:
    """Return JSON in JavaScript's formatting."""
    return json.dumps(value, separators=(",", ":"))


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
