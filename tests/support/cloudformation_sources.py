"""CloudFormation templates of other people, as tests import and lint them."""

from __future__ import annotations

from textwrap import indent

NETWORK = """\
Vpc: {Type: "AWS::EC2::VPC", Properties: {CidrBlock: 10.0.0.0/16}}
Private:
  Type: AWS::EC2::Subnet
  Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/17, AvailabilityZone: us-west-2b}
"""
"""A VPC with a private subnet."""


def template(resources: str = NETWORK, more: str = "") -> str:
    """Return a template with these resources, and more sections."""
    return f'AWSTemplateFormatVersion: "2010-09-09"\n{more}Resources:\n{indent(resources, "  ")}'


def batch(resources: str = "MaxvCpus: 384", launch: str = "", more: str = "") -> str:
    """Return a template with a compute environment of p5.48xlarge.

    Args:
        resources: Lines of `ComputeResources`.
        launch: Lines of `LaunchTemplateData`.
        more: Further sections.
    """
    objects = (
        "Launch:\n"
        "  Type: AWS::EC2::LaunchTemplate\n"
        "  Properties:\n"
        "    LaunchTemplateData:\n"
        "      NetworkInterfaces: [{InterfaceType: efa}]\n"
        f"{indent(launch, '      ')}"
        "Nodes:\n"
        "  Type: AWS::Batch::ComputeEnvironment\n"
        "  Properties:\n"
        "    Type: MANAGED\n"
        "    ComputeResources:\n"
        "      Type: EC2\n"
        "      AllocationStrategy: BEST_FIT_PROGRESSIVE\n"
        "      InstanceTypes: [p5.48xlarge]\n"
        "      Subnets: [subnet-0123456789abcdef1]\n"
        "      LaunchTemplate: {LaunchTemplateId: !Ref Launch}\n"
        f"{indent(resources, '      ')}\n"
    )
    return template(objects, more)
