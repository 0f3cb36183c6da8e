"""The longest names that the program composes from names in a stack file are valid for the APIs."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.constraints import CONSTRAINTS, in_python
from tests.support.stacks import stack_config
from trainyard.components.architectures.build import build
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError

RANDOM = "-0123abc"
"""What Pulumi appends to a name: https://www.pulumi.com/docs/iac/concepts/resources/names/"""
PARAMETERS = {
    "aws:autoscaling/group:Group": "autoscaling.CreateAutoScalingGroup.AutoScalingGroupName",
    "aws:ecr/repository:Repository": "ecr.CreateRepository.repositoryName",
    "aws:iam/instanceProfile:InstanceProfile": "iam.CreateInstanceProfile.InstanceProfileName",
    "aws:iam/role:Role": "iam.CreateRole.RoleName",
    "aws:iam/rolePolicy:RolePolicy": "iam.PutRolePolicy.PolicyName",
    "aws:cloudwatch/logGroup:LogGroup": "logs.CreateLogGroup.logGroupName",
}
DOCUMENTED = {
    # https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateComputeEnvironment.html
    "aws:batch/computeEnvironment:ComputeEnvironment": (128, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    # https://docs.aws.amazon.com/batch/latest/APIReference/API_RegisterJobDefinition.html
    "aws:batch/jobDefinition:JobDefinition": (128, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    # https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html
    "aws:batch/jobQueue:JobQueue": (128, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    "aws:cloudformation/stack:Stack": (128, r"[A-Za-z][A-Za-z0-9-]*"),
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
    "aws:ec2/launchTemplate:LaunchTemplate": (128, r"[A-Za-z0-9().\-/_]+"),
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
    "aws:ec2/placementGroup:PlacementGroup": (255, r"[\x20-\x7e]+"),
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSecurityGroup.html
    "aws:ec2/securityGroup:SecurityGroup": (255, r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]+"),
    # https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
    "aws:eks/nodeGroup:NodeGroup": (63, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
}
"""Maximum length and pattern of names whose rules are only in the documentation."""


def planned(raw: Mapping[str, Any], stack: str) -> Any:
    """Return the plan of a stack; None if it is refused."""
    stack_file = f"Pulumi.{stack}.yaml"
    now = datetime.now(UTC)
    try:
        config = load_stack_config(raw, stack_file=stack_file)
        return plan_stack(config, stack_file=stack_file, region="us-west-2", now=now)
    except ConfigError:
        return None


def longest(named: Callable[[str], Mapping[str, Any]], stack: str) -> Any:
    """Return the plan with the longest name that is accepted."""
    plans = (planned(named("n" * length), stack) for length in range(100, 0, -1))
    return next(plan for plan in plans if plan is not None)


def with_name(stack: str, name: str) -> Mapping[str, Any]:
    return {**stack_config(stack)["trainyard:cluster"], "name": name}


def with_pool(stack: str, section: str, name: str) -> Mapping[str, Any]:
    raw = copy.deepcopy(stack_config(stack)["trainyard:cluster"])
    architecture = raw["architecture"]
    first, *_ = architecture[section].values()
    architecture[section] = {name: first}
    if section == "compute_environments":
        for definition in architecture["job_definitions"].values():
            definition["compute_environment"] = name
    return raw


def faults(cloud: Cloud) -> list[str]:
    """Return the names that do not fit, by the rule of their type."""
    return [
        f"{made.type} {name}"
        for made in cloud.registered
        if made.type in PARAMETERS or made.type in DOCUMENTED
        for name in [made.inputs.get("name", "") or f"{made.name}{RANDOM}"]
        if not _fits(made.type, name)
    ]


def _fits(kind: str, name: str) -> bool:
    if kind in DOCUMENTED:
        most, pattern = DOCUMENTED[kind]
        return len(name) <= most and re.fullmatch(pattern, name) is not None
    limits = CONSTRAINTS[PARAMETERS[kind]]
    pattern = in_python(limits.get("pattern", ".*"))
    return len(name) <= limits["max"] and re.fullmatch(pattern, name) is not None


@pytest.mark.parametrize(
    "stack", ["eks-g4dn", "p5-cb", "batch-p4d", "pc-gpu", "pc-trn1", "vpc-multi-az"]
)
def test_names_from_the_longest_name_of_a_stack_fit(
    stack: str, deploy: Callable[..., Cloud]
) -> None:
    plan = longest(lambda name: with_name(stack, name), stack)
    assert len(plan.name) > 10
    assert faults(deploy(lambda: build(plan))) == []


@pytest.mark.parametrize(
    ("stack", "section"),
    [
        ("eks-g4dn", "node_groups"),
        ("p5-cb", "node_groups"),
        ("batch-p4d", "compute_environments"),
        ("batch-p4d", "job_definitions"),
    ],
)
def test_names_from_the_longest_name_of_a_pool_fit(
    stack: str, section: str, deploy: Callable[..., Cloud]
) -> None:
    plan = longest(lambda name: with_pool(stack, section, name), stack)
    assert faults(deploy(lambda: build(plan))) == []
