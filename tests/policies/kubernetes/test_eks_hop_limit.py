"""Pods reach the metadata of their node only if they need it (E15), as CKV_AWS_341 asks (H3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import compute_environment
from tests.support.policy_programs_eks import TRUST, cluster, eks_template, joining_group, workers
from trainyard.components.catalog.eks_node_policies import (
    ADDON_ACTIONS,
    ADDON_POLICIES,
    NODE_POLICIES,
)
from trainyard.policies.resources.types import (
    EKS_ADDON,
    IAM_ROLE,
    IAM_ROLE_POLICY,
    IAM_ROLE_POLICY_ATTACHMENT,
    INSTANCE_PROFILE,
)
from trainyard.policies.rules.kubernetes.eks_hop_limit import POLICY

AWS = "arn:aws:iam::aws:policy/"


def hops(count: int, **changes: Any) -> Declared:
    options = {"httpTokens": "required", "httpPutResponseHopLimit": count}
    return eks_template(metadataOptions=options, **changes)


def role(*policies: str) -> tuple[Declared, ...]:
    """Return the role of the nodes with these AWS managed policies, as separate resources."""
    return (
        Declared(IAM_ROLE, "node-role", {"assumeRolePolicy": TRUST}),
        *(
            Declared(
                IAM_ROLE_POLICY_ATTACHMENT,
                f"node-{number}",
                {"role": UNKNOWN, "policyArn": AWS + policy},
                {"role": ["node-role"]},
            )
            for number, policy in enumerate(policies)
        ),
    )


def inline(*actions: str) -> Declared:
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    props = {"role": UNKNOWN, "policy": document}
    return Declared(IAM_ROLE_POLICY, "inline", props, {"role": ["node-role"]})


def addon(name: str) -> Declared:
    return Declared(EKS_ADDON, name, {"clusterName": "training", "addonName": name})


NODE = role("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore")
PROFILE = Declared(INSTANCE_PROFILE, "profile", {"role": UNKNOWN}, {"role": ["node-role"]})
OBSERVABILITY = addon("amazon-cloudwatch-observability")
OWN = {"iamInstanceProfile": {"arn": UNKNOWN}}


def self_managed(count: int) -> tuple[Declared, ...]:
    made = hops(count, **OWN)
    depends = {"iamInstanceProfile": ["profile"]}
    return (PROFILE, Declared(made.type, made.name, made.props, depends), joining_group())


FAULTS = {
    "nothing-needs-it": ((*NODE, hops(2), workers()), "nothing in the stack needs that"),
    "self-managed": ((*NODE, *self_managed(2)), "nothing in the stack needs that"),
    "policies-in-the-role": (
        (
            Declared(
                IAM_ROLE,
                "node-role",
                {
                    "assumeRolePolicy": TRUST,
                    "managedPolicyArns": [f"{AWS}service-role/AmazonEBSCSIDriverPolicy"],
                },
            ),
            hops(2),
            workers(),
        ),
        "for aws-ebs-csi-driver (AmazonEBSCSIDriverPolicy)",
    ),
    "fsx-for-every-pod": (
        (*NODE, inline("fsx:CreateFileSystem", "fsx:DeleteFileSystem"), hops(2), workers()),
        "for aws-fsx-csi-driver (fsx:CreateFileSystem)",
    ),
    "agent-beside-its-own-role": (
        (*role("CloudWatchAgentServerPolicy"), OBSERVABILITY, hops(2), workers()),
        "can use what the node role allows for amazon-cloudwatch-observability",
    ),
    "further-than-a-pod": (
        (*NODE, inline("s3:GetObject"), hops(3), workers()),
        "pods need at most 2",
    ),
    "agent-without-metadata": (
        (*NODE, OBSERVABILITY, hops(1), workers()),
        "the pods of amazon-cloudwatch-observability on the nodes of workers get no answer",
    ),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
FROM_THE_IMAGE = eks_template(metadataOptions={"httpTokens": "required"})
RIGHT = {
    "managed": (*NODE, hops(1), workers()),
    "self-managed": (*NODE, *self_managed(1)),
    "agent-with-metadata": (*NODE, OBSERVABILITY, hops(2), workers()),
    "another-addon": (*NODE, addon("aws-ebs-csi-driver"), hops(1), workers()),
    "permission-of-no-addon": (*NODE, inline("autoscaling:SetDesiredCapacity"), hops(2), workers()),
    "policy-of-no-addon": (*role("AmazonS3ReadOnlyAccess"), hops(2), workers()),
    "permission-that-no-pod-reaches": (*role("AmazonEBSCSIDriverPolicyV2"), hops(1), workers()),
    "role-of-another-program": (hops(2), workers(nodeRoleArn="arn:aws:iam::123456789012:role/n")),
    "profile-of-another-program": (hops(2), joining_group()),
    "agent-in-one-of-two-clusters": (
        *NODE,
        OBSERVABILITY,
        cluster([]),
        Declared(cluster([]).type, "other", cluster([]).props),
        hops(1),
        workers(),
    ),
    "from-the-image": (*NODE, FROM_THE_IMAGE, workers()),
    "from-the-image-as-the-provider-reads-it": (*NODE, hops(0), workers()),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize(("program", "says"), FAULTS.values(), ids=FAULTS)
def test_fails(program: tuple[Declared, ...], says: str) -> None:
    (message,) = check(POLICY, *program).messages
    assert message.startswith("workers-template: its hop limit is ")
    assert says in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program: tuple[Declared, ...]) -> None:
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_policy_that_is_not_known_yet_may_be_for_pods() -> None:
    depends = {"role": ["node-role"], "policy": ["node-role"]}
    props = {"role": UNKNOWN, "policy": UNKNOWN}
    later = Declared(IAM_ROLE_POLICY, "later", props, depends)
    assert check(POLICY, *NODE, later, hops(2), workers()).messages == []


def test_a_template_of_two_groups_is_named_once() -> None:
    assert len(check(POLICY, *NODE, hops(2), workers(), joining_group()).messages) == 1


def test_nodes_of_batch_are_not_nodes_of_eks() -> None:
    batch = compute_environment(
        computeResources={"launchTemplate": {"launchTemplateId": "workers-template-id"}}
    )
    assert check(POLICY, hops(2), batch).messages == []


def test_the_policies_are_those_of_aws() -> None:
    """The actions tell the policy of an add-on from those of nodes, in AWS's own documents."""
    documents = json.loads(aws_managed_policies_data)
    allowed = {
        name: {
            action
            for statement in documents[name]["Document"]["Statement"]
            for action in _listed(statement.get("Action", []))
        }
        for name in {*NODE_POLICIES, *ADDON_POLICIES}
    }
    for action, name in ADDON_ACTIONS.items():
        holders = {policy for policy in allowed if action in allowed[policy]}
        assert holders == {policy for policy, of in ADDON_POLICIES.items() if of == name}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
