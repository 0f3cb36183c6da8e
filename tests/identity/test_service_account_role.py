"""The role of a service account: its trust policy and its permissions."""

from __future__ import annotations

import json

import pytest

from trainyard.components.identity.service_account_role import (
    OidcProvider,
    ServiceAccountRole,
    ServiceAccountRoleArgs,
)

CLUSTER = "arn:aws:eks:us-west-2:123456789012:cluster/training"
PROVIDER = OidcProvider(
    arn="arn:aws:iam::123456789012:oidc-provider/oidc.example.com/id/1",
    url="https://oidc.example.com/id/1",
)


def role(deploy, provider, *, region="us-west-2", name="ebs"):
    def program():
        ServiceAccountRole(
            name,
            ServiceAccountRoleArgs(
                namespace="kube-system",
                service_account="ebs-csi-controller-sa",
                policy="AmazonEBSCSIDriverPolicyV2",
                cluster_arn=CLUSTER,
                oidc_provider=provider,
                region=region,
                tags={"team": "vision"},
            ),
        )

    return deploy(program)


def statement(cloud):
    (only,) = json.loads(cloud.one("ebs-role").inputs["assumeRolePolicy"])["Statement"]
    return only


def test_only_the_one_service_account_of_the_one_cluster_takes_it_through_pod_identity(deploy):
    """The keys of the user guide, https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html:
    without them every association of the account, of any cluster, could hand out the role."""
    assert statement(role(deploy, None)) == {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
        "Condition": {
            "StringEquals": {
                "aws:SourceAccount": "123456789012",
                "aws:RequestTag/eks-cluster-arn": CLUSTER,
                "aws:RequestTag/kubernetes-namespace": "kube-system",
                "aws:RequestTag/kubernetes-service-account": "ebs-csi-controller-sa",
            }
        },
    }


def test_only_the_one_service_account_takes_it_through_the_oidc_provider(deploy):
    """EKS-05, EKX-03."""
    assert statement(role(deploy, PROVIDER)) == {
        "Effect": "Allow",
        "Principal": {"Federated": PROVIDER.arn},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                "oidc.example.com/id/1:aud": "sts.amazonaws.com",
                "oidc.example.com/id/1:sub": (
                    "system:serviceaccount:kube-system:ebs-csi-controller-sa"
                ),
            }
        },
    }


@pytest.mark.parametrize(("region", "partition"), [("us-west-2", "aws"), ("cn-north-1", "aws-cn")])
def test_the_role_has_the_one_policy_of_its_partition(deploy, region, partition):
    cloud = role(deploy, None, region=region)
    attached = cloud.one("ebs-policy").inputs
    assert attached["policyArn"] == f"arn:{partition}:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"
    assert cloud.one("ebs-role").inputs["tags"] == {"team": "vision"}
    assert cloud.one("ebs-role").parent in cloud.closed


def test_the_name_of_a_role_fits_however_long_that_of_the_add_on_is(deploy):
    """The provider refuses a longer name: IAM allows 64 characters, and Pulumi appends eight."""
    cloud = role(deploy, None, name="eks-g4dn-vpc-services-addons-aws-fsx-csi-driver-identity")
    (made,) = cloud.of_type("aws:iam/role:Role")
    assert made.name.startswith("eks-g4dn-vpc-services-addons-aws-fsx-csi")
    assert len(made.name) == 56
