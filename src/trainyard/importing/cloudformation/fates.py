"""What becomes of the properties of a template that the conversion does not read.

`TYPES` has the resource types that stacks make, with a row for a property and all below it; the
row of the empty path is that of the whole object.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.cloudformation.job_fates import JOB_ROWS
from trainyard.importing.report import Fate, FateRow

_Rows = Mapping[str, tuple[Fate, str]]

_TAGS = "set `tags` of the stack, which all resources get"
_NAMES = "names begin with that of the stack"
_IPV6 = "a VPC of a stack has IPv4 addresses only"
_ROUTES = "a stack routes public subnets to an internet gateway, and private ones to NAT gateways"
_OTHER_ROUTE = "add the route to the route tables of the stack after `up`"
_GROUP = (
    "a stack has security groups of its own for EFA and Lustre; for other rules, create a group in "
    "the VPC after `up`"
)
_TEMPLATE = (
    "the stack writes the launch template: interfaces, reservation, volumes and user data; put "
    "other settings into an AMI (`custom_ami_id`)"
)
_USER_DATA = (
    "the stack writes the user data: `local_nvme: raid0` formats the local disks; put software "
    "into an AMI (`custom_ami_id`)"
)
_ON_ECS = (
    "a stack runs jobs of Batch on ECS; for Kubernetes, begin with `./trainyard init NAME --kind "
    "eks`"
)
_ROLE = "the stack creates its roles itself, with the permissions that it needs"
_REPOSITORY = "repositories of a stack are scanned and encrypted, and their tags are immutable"
_OF_EKS: _Rows = {
    "": ("not supported", "a stack is of one kind: import the cluster from a template of its own")
}

_ROWS: Mapping[str, _Rows] = {
    "AWS::EC2::VPC": {
        "": ("implied", "the stack has a VPC"),
        "EnableDnsSupport": ("implied", "every VPC has it"),
        "EnableDnsHostnames": ("implied", "every VPC has it"),
        "InstanceTenancy": ("not supported", "instances have shared tenancy"),
        "Ipv4IpamPoolId": ("not supported", "set `cidr` of the network"),
        "Ipv4NetmaskLength": ("not supported", "set `cidr` of the network"),
        "VpcEncryptionControl": ("not supported", "set it for the VPC after `up`"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::VPCCidrBlock": {
        "": ("not supported", _IPV6),
        "VpcId": ("implied", "it is a block of the VPC of the stack"),
        "Ipv4IpamPoolId": ("not supported", "set `secondary_cidrs` of the network"),
        "Ipv4NetmaskLength": ("not supported", "set `secondary_cidrs` of the network"),
    },
    "AWS::EC2::Subnet": {
        "": ("implied", "each zone has a private subnet, and a public one"),
        "VpcId": ("implied", "subnets are in the VPC of the stack"),
        "MapPublicIpOnLaunch": ("implied", "public subnets give addresses, and private ones none"),
        "Ipv6CidrBlock": ("not supported", _IPV6),
        "Ipv6Native": ("not supported", _IPV6),
        "AssignIpv6AddressOnCreation": ("not supported", _IPV6),
        "EnableDns64": ("not supported", _IPV6),
        "OutpostArn": ("not supported", "stacks are in the zones of a region"),
        "PrivateDnsNameOptionsOnLaunch": ("not supported", "instances have the default names"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::InternetGateway": {
        "": ("implied", "a VPC with public subnets has an internet gateway"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::VPCGatewayAttachment": {
        "": ("implied", "a VPC with public subnets has an internet gateway"),
        "VpnGatewayId": ("not supported", "attach the VPN gateway to the VPC after `up`"),
    },
    "AWS::EC2::EIP": {
        "": ("implied", "every NAT gateway has an address"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::NatGateway": {
        "": ("implied", "`nat_gateways` is their number"),
        "ConnectivityType": ("implied", "NAT gateways are public"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::RouteTable": {"": ("implied", _ROUTES), "Tags": ("not supported", _TAGS)},
    "AWS::EC2::Route": {"": ("not supported", _OTHER_ROUTE)},
    "AWS::EC2::SubnetRouteTableAssociation": {"": ("implied", _ROUTES)},
    "AWS::EC2::VPCEndpoint": {
        "": ("implied", "the stack creates the endpoints in its network"),
        "ServiceName": ("not supported", "create the endpoint in the VPC after `up`"),
        "PolicyDocument": ("not supported", "endpoints have the default policy, full access"),
        "PrivateDnsEnabled": ("implied", "interface endpoints have the private names"),
        "SecurityGroupIds": ("implied", "endpoints have a security group of the stack"),
        "DnsOptions": ("not supported", "endpoints have the default names"),
        "IpAddressType": ("not supported", _IPV6),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::FlowLog": {
        "": ("implied", "flow logs of all traffic go to a log group of the stack"),
        "LogDestination": (
            "not supported",
            "flow logs go to CloudWatch Logs; create another one for S3 or Firehose after `up`",
        ),
        "LogFormat": ("not supported", "flow logs have the default format"),
        "TagFieldSpecifications": ("not supported", "flow logs have the default format"),
        "MaxAggregationInterval": ("not supported", "flow logs have the default interval"),
        "DestinationOptions": ("not supported", "flow logs go to CloudWatch Logs"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::SecurityGroup": {"": ("not supported", _GROUP)},
    "AWS::EC2::SecurityGroupIngress": {"": ("not supported", _GROUP)},
    "AWS::EC2::SecurityGroupEgress": {"": ("not supported", _GROUP)},
    "AWS::EC2::PlacementGroup": {
        "": ("not supported", "no compute environment of the template launches into it"),
        "PartitionCount": ("not supported", "a stack has cluster placement groups"),
        "SpreadLevel": ("not supported", "a stack has cluster placement groups"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::EC2::LaunchTemplate": {
        "": ("not supported", _TEMPLATE),
        "LaunchTemplateName": ("dropped", _NAMES),
        "VersionDescription": ("dropped", "Batch launches nodes with the version of the stack"),
        "TagSpecifications": ("not supported", _TAGS),
        "LaunchTemplateData.TagSpecifications": ("not supported", _TAGS),
        "LaunchTemplateData.IamInstanceProfile": ("implied", _ROLE),
        "LaunchTemplateData.InstanceType": ("dropped", "Batch takes it from `InstanceTypes`"),
        "LaunchTemplateData.EbsOptimized": ("dropped", "the types are EBS-optimized by default"),
        "LaunchTemplateData.NetworkInterfaces": (
            "implied",
            "the stack writes the interfaces of the instance type, in its subnets and groups",
        ),
        "LaunchTemplateData.SecurityGroupIds": ("not supported", _GROUP),
        "LaunchTemplateData.SecurityGroups": ("not supported", _GROUP),
        "LaunchTemplateData.UserData": (
            "not supported",
            _USER_DATA,
        ),
        "LaunchTemplateData.MetadataOptions": ("implied", "nodes require IMDSv2"),
        "LaunchTemplateData.InstanceMarketOptions": (
            "implied",
            "`purchase_option` of the compute environment sets it",
        ),
        "LaunchTemplateData.CapacityReservationSpecification": (
            "dropped",
            "nodes of a stack launch into a reservation only if `purchase_option` names it",
        ),
        "LaunchTemplateData.Monitoring": ("not supported", "set `monitoring` of the stack"),
    },
    "AWS::IAM::Role": {
        "": ("implied", _ROLE),
        "Policies": (
            "not supported",
            "create a managed policy, and name it in `iam_policies` of what needs it",
        ),
        "ManagedPolicyArns": ("implied", _ROLE),
        "PermissionsBoundary": ("not supported", "roles of a stack have no boundary"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::IAM::InstanceProfile": {"": ("implied", _ROLE)},
    "AWS::Logs::LogGroup": {
        "": ("implied", "flow logs are kept for seven days"),
        "KmsKeyId": ("not supported", "the log group is encrypted with the key of CloudWatch"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::ECR::Repository": {
        "": ("implied", _REPOSITORY),
        "LifecyclePolicy": (
            "not supported",
            "set `untagged_days` and `kept_images` of the repository",
        ),
        "RepositoryPolicyText": ("not supported", "set the policy after `up`"),
        "EncryptionConfiguration": ("not supported", "images are encrypted with the key of ECR"),
        "EmptyOnDelete": ("dropped", "`deletion_protection` decides what `destroy` keeps"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::Batch::ComputeEnvironment": {
        "": ("implied", "compute environments of a stack are managed and enabled"),
        "ComputeEnvironmentName": ("dropped", _NAMES),
        "ServiceRole": ("implied", "Batch uses its service-linked role"),
        "UpdatePolicy": ("implied", "an update lets running jobs finish"),
        "ReplaceComputeEnvironment": ("implied", "environments are updated in place"),
        "EksConfiguration": (
            "not supported",
            _ON_ECS,
        ),
        "UnmanagedvCpus": ("not supported", "environments of a stack are managed"),
        "Tags": ("not supported", _TAGS),
        "EcsSettings": ("not supported", "enable Container Insights of its cluster after `up`"),
        "ComputeResources.Tags": ("not supported", _TAGS),
        "ComputeResources.CapacityTags": ("not supported", _TAGS),
        "ComputeResources.ManagedInstancesProvider": (
            "not supported",
            "nodes of a stack launch from its launch template",
        ),
        "ComputeResources.DesiredvCpus": ("dropped", "Batch sets it by the jobs in the queue"),
        "ComputeResources.InstanceRole": ("implied", _ROLE),
        "ComputeResources.SecurityGroupIds": (
            "not supported",
            "nodes have the security groups of the stack; allow its subnets on the other side",
        ),
        "ComputeResources.SpotIamFleetRole": ("implied", "Batch needs none for this strategy"),
        "ComputeResources.BidPercentage": (
            "dropped",
            "Spot Instances cost at most the On-Demand price, which is the default",
        ),
        "ComputeResources.UpdateToLatestImageVersion": (
            "implied",
            "Batch selects the AMI when a node launches",
        ),
        "ComputeResources.LaunchTemplate": ("implied", "the stack writes the launch template"),
        "ComputeResources.ScalingPolicy": (
            "not supported",
            "Batch ends idle nodes after its default delay",
        ),
        "ComputeResources.Ec2Configuration": ("implied", "`image: auto` selects the AMI"),
    },
    "AWS::Batch::JobQueue": {
        "": ("implied", "each compute environment has a queue, which is enabled"),
        "JobQueueName": ("dropped", _NAMES),
        "SchedulingPolicyArn": ("not supported", "queues of a stack are first in, first out"),
        "JobStateTimeLimitActions": (
            "not supported",
            "end jobs that wait too long with `aws batch terminate-job`",
        ),
        "ServiceEnvironmentOrder": ("not supported", "queues of a stack are those of ECS"),
        "Tags": ("not supported", _TAGS),
    },
    "AWS::Batch::JobDefinition": JOB_ROWS,
    "AWS::EKS::Cluster": _OF_EKS,
    "AWS::EKS::Nodegroup": _OF_EKS,
    "AWS::EKS::Addon": _OF_EKS,
    "AWS::EKS::AccessEntry": _OF_EKS,
}

TYPES: Mapping[str, Mapping[tuple[str, ...], FateRow]] = {
    kind: {tuple(path.split(".")) if path else (): FateRow(*row) for path, row in rows.items()}
    for kind, rows in _ROWS.items()
}

ATTRIBUTES: Mapping[str, FateRow] = {
    "CreationPolicy": FateRow("dropped", "the engine waits for what it creates"),
    "DeletionPolicy": FateRow("dropped", "`deletion_protection` decides what `destroy` keeps"),
    "DependsOn": FateRow("dropped", "the engine orders what it creates"),
    "Metadata": FateRow("dropped", "it is for tools of CloudFormation"),
    "UpdatePolicy": FateRow("dropped", "it is an option of updates by CloudFormation"),
    "UpdateReplacePolicy": FateRow("dropped", "`deletion_protection` decides what is kept"),
}
"""Attributes of every object, below its logical id."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    (name,): row
    for name, row in {
        "AWSTemplateFormatVersion": FateRow("dropped", "it is the version of the format"),
        "Description": FateRow("dropped", "write it as a comment"),
        "Metadata": FateRow("dropped", "it is for the console of CloudFormation"),
        "Parameters": FateRow("dropped", "the stack file has the values themselves"),
        "Mappings": FateRow("dropped", "it is no entry of a mapping"),
        "Conditions": FateRow("dropped", "nothing in the template uses it"),
        "Rules": FateRow("dropped", "`check` checks the values of the stack file"),
        "Hooks": FateRow("not supported", "a stack deploys no code with CodeDeploy"),
        "Globals": FateRow(
            "not supported", "a stack has no functions: keep them in a stack of SAM"
        ),
        "Transform": FateRow(
            "not supported",
            "expand macros first: import the template that `aws cloudformation get-template "
            "--template-stage Processed` prints",
        ),
    }.items()
}
