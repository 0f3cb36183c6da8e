"""EKS's add-ons: their inputs, dependencies and roles."""

from __future__ import annotations

import json
from dataclasses import replace

import pulumi_aws as aws

from trainyard.components.eks.cluster import EksAddons, EksAddonsArgs
from trainyard.components.eks.plan import AddonPlan, PodIdentityPlan
from trainyard.components.identity.service_account_role import OidcProvider

AGENT = AddonPlan(
    name="eks-pod-identity-agent",
    version="v1.3.10-eksbuild.3",
    configuration=None,
    identity=None,
)
DRIVER = AddonPlan(
    name="aws-ebs-csi-driver",
    version="v1.64.0-eksbuild.1",
    configuration={"node": {"b": 1}, "controller": {"a": 2}},
    identity=PodIdentityPlan(
        namespace="kube-system",
        service_account="ebs-csi-controller-sa",
        policy="AmazonEBSCSIDriverPolicyV2",
        through="pod-identity",
    ),
)
ROLE = "arn:aws:iam::123456789012:role/c-aws-ebs-csi-driver-identity-role"


def install(deploy, *addons):
    def program():
        EksAddons(
            "c",
            EksAddonsArgs(
                cluster_name="p5-cb",
                cluster_arn="arn:aws:eks:us-west-2:123456789012:cluster/p5-cb",
                addons=addons,
                oidc_provider=OidcProvider(arn="arn:aws:iam::1:oidc-provider/x", url="https://x"),
                region="us-west-2",
                runs_on=aws.ec2.SecurityGroup("nodes"),
                tags={"team": "vision"},
            ),
        )

    return deploy(program)


def test_an_addon_is_pinned_and_takes_over_what_is_there(deploy):
    assert install(deploy, AGENT).one("c-eks-pod-identity-agent").inputs == {
        "clusterName": "p5-cb",
        "addonName": "eks-pod-identity-agent",
        "addonVersion": "v1.3.10-eksbuild.3",
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "tags": {"team": "vision"},
    }


def test_the_agent_hands_the_role_to_the_drivers_service_account(deploy):
    addon = install(deploy, AGENT, DRIVER).one("c-aws-ebs-csi-driver")
    assert addon.inputs["podIdentityAssociations"] == [
        {"serviceAccount": "ebs-csi-controller-sa", "roleArn": ROLE}
    ]
    assert "serviceAccountRoleArn" not in addon.inputs


def test_without_the_agent_the_role_is_the_service_accounts(deploy):
    identity = replace(DRIVER.identity, through="oidc")
    cloud = install(deploy, replace(DRIVER, identity=identity))
    addon = cloud.one("c-aws-ebs-csi-driver")
    assert addon.inputs["serviceAccountRoleArn"] == ROLE
    assert "podIdentityAssociations" not in addon.inputs
    trust = json.loads(cloud.one("c-aws-ebs-csi-driver-identity-role").inputs["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Federated": "arn:aws:iam::1:oidc-provider/x"}


def test_a_driver_comes_after_the_nodes_that_run_it_and_the_agent_that_gives_it_its_role(deploy):
    cloud = install(deploy, AGENT, DRIVER)
    agent, driver = cloud.one("c-eks-pod-identity-agent"), cloud.one("c-aws-ebs-csi-driver")
    assert {cloud.one("nodes").urn, agent.urn} <= driver.dependencies


def test_the_agent_waits_for_no_node_and_no_addon_for_another_that_it_does_not_need(deploy):
    other = replace(DRIVER, name="aws-fsx-csi-driver")
    cloud = install(deploy, AGENT, DRIVER, other)
    assert cloud.one("nodes").urn not in cloud.one("c-eks-pod-identity-agent").dependencies
    driver = cloud.one("c-aws-ebs-csi-driver").urn
    assert driver not in cloud.one("c-aws-fsx-csi-driver").dependencies


def test_without_an_agent_a_driver_waits_for_the_nodes_alone(deploy):
    identity = replace(DRIVER.identity, through="oidc")
    cloud = install(deploy, replace(DRIVER, identity=identity))
    assert cloud.one("nodes").urn in cloud.one("c-aws-ebs-csi-driver").dependencies


def test_the_settings_are_a_text_that_never_changes_its_order(deploy):
    addon = install(deploy, DRIVER).one("c-aws-ebs-csi-driver")
    text = addon.inputs["configurationValues"]
    assert text == '{"controller": {"a": 2}, "node": {"b": 1}}'


def test_the_component_is_closed(deploy):
    cloud = install(deploy, AGENT)
    assert cloud.one("c-eks-pod-identity-agent").parent in cloud.closed
