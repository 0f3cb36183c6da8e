"""The same training with On-Demand nodes of one type in one zone."""

import json

import pulumi_aws as aws

SUBNETS = ["subnet-0b000000000000002"]

efa = aws.ec2.SecurityGroup(
    "efa",
    vpc_id="vpc-0123456789abcdef0",
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
)
template = aws.ec2.LaunchTemplate(
    "batch",
    metadata_options={"http_tokens": "required"},
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa",
            "security_groups": [efa.id],
        }
        for card in range(4)
    ],
)
together = aws.ec2.PlacementGroup("together", strategy="cluster")
version = template.latest_version.apply(str)
environment = aws.batch.ComputeEnvironment(
    "on-demand",
    type="MANAGED",
    compute_resources={
        "type": "EC2",
        "allocation_strategy": "BEST_FIT_PROGRESSIVE",
        "placement_group": together.name,
        "instance_role": "arn:aws:iam::123456789012:instance-profile/nodes",
        "instance_types": ["p4d.24xlarge"],
        "min_vcpus": 0,
        "max_vcpus": 384,
        "subnets": SUBNETS,
        "launch_template": {"launch_template_id": template.id, "version": version},
    },
)
aws.batch.JobQueue(
    "training",
    priority=1,
    state="ENABLED",
    compute_environment_orders=[{"order": 1, "compute_environment": environment.arn}],
)


def nodes(which: str, instance_type: str, vcpus: int) -> dict:
    return {
        "targetNodes": which,
        "container": {
            "image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1",
            "instanceType": instance_type,
            "privileged": True,
            "resourceRequirements": [
                {"type": "VCPU", "value": str(vcpus)},
                {"type": "MEMORY", "value": "1000000"},
                {"type": "GPU", "value": "8"},
            ],
        },
    }


aws.batch.JobDefinition(
    "train",
    type="multinode",
    node_properties=json.dumps(
        {
            "mainNode": 0,
            "numNodes": 4,
            "nodeRangeProperties": [nodes("0:3", "p4d.24xlarge", 96)],
        }
    ),
)
