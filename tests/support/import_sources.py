"""Clusters of ParallelCluster, eksctl and CloudFormation, as tests import and lint them."""

from __future__ import annotations

from textwrap import indent

QUEUE = """\
- Name: gpu
  CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
  Networking: {SubnetIds: [subnet-0123456789abcdef1]}
  ComputeResources:
    - {Name: p5, InstanceType: p5.48xlarge, MinCount: 2, MaxCount: 2, Efa: {Enabled: true}}
"""
"""A queue of an ODCR."""


def cluster(queues: str = QUEUE, more: str = "", head: str = "") -> str:
    """Return a configuration with these entries of `SlurmQueues`, and more at its end."""
    return (
        "Region: us-west-2\n"
        "Image: {Os: alinux2023}\n"
        "HeadNode:\n"
        "  InstanceType: m5.8xlarge\n"
        "  Networking: {SubnetId: subnet-0123456789abcdef0}\n"
        f"{indent(head, '  ')}"
        "Scheduling:\n"
        "  Scheduler: slurm\n"
        "  SlurmQueues:\n"
        f"{indent(queues, '    ')}"
        f"{more}"
    )


SYSTEM = "- {name: sys, instanceType: c5.2xlarge, desiredCapacity: 1}\n"
"""A managed node group for services."""
GPU = """\
- name: gpu
  instanceType: p5.48xlarge
  privateNetworking: true
  efaEnabled: true
  minSize: 0
  desiredCapacity: 2
  maxSize: 4
  availabilityZones: [us-west-2b]
  capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}}
"""
"""A managed node group of an ODCR."""
ZONES = "availabilityZones: [us-west-2a, us-west-2b]\n"


def cluster_config(managed: str = SYSTEM + GPU, more: str = ZONES, version: str = "1.36") -> str:
    """Return a configuration with these managed node groups, and more at its end."""
    return (
        "apiVersion: eksctl.io/v1alpha5\n"
        "kind: ClusterConfig\n"
        f"metadata: {{name: train, region: us-west-2, version: '{version}'}}\n"
        "managedNodeGroups:\n"
        f"{indent(managed, '  ')}"
        f"{more}"
    )


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
