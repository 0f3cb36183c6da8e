"""Pulumi type tokens that the rules match on."""

from __future__ import annotations

AUTO_SCALING_GROUP = "aws:autoscaling/group:Group"
CLOUDFORMATION_STACK = "aws:cloudformation/stack:Stack"
EBS_VOLUME = "aws:ebs/volume:Volume"
EFS_FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
EKS_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
INSTANCE = "aws:ec2/instance:Instance"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
LUSTRE_FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"
OPENZFS_FILE_SYSTEM = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
SECURITY_GROUP_EGRESS_RULE = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
SECURITY_GROUP_INGRESS_RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
SECURITY_GROUP_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
"""The older resource, ingress or egress by its `type`."""
SUBNET = "aws:ec2/subnet:Subnet"
