"""The same template ported, without its faults."""

import pulumi_aws as aws

SUBNET = "subnet-0b000000000000002"
NODE_GROUP = "sg-0123456789abcdef0"

template = aws.ec2.LaunchTemplate(
    "NodeLaunchTemplate",
    name="p5-nodes",
    image_id="ami-0123456789abcdef0",
    instance_type="p5.48xlarge",
    instance_market_options={"market_type": "capacity-block"},
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
    },
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2},
    block_device_mappings=[
        {
            "device_name": "/dev/xvda",
            "ebs": {"volume_size": 500, "volume_type": "gp3", "encrypted": "true"},
        }
    ],
    network_interfaces=[
        {
            "device_index": 0 if card == 0 else 1,
            "network_card_index": card,
            "interface_type": "efa",
            "subnet_id": SUBNET,
            "security_groups": [NODE_GROUP],
        }
        for card in range(32)
    ],
)

nodes = aws.autoscaling.Group(
    "NodeGroup",
    min_size=0,
    desired_capacity=2,
    max_size=2,
    vpc_zone_identifiers=[SUBNET],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
)
aws.autoscaling.Schedule(
    "EndOfBlock",
    autoscaling_group_name=nodes.name,
    scheduled_action_name="end-of-block",
    min_size=0,
    desired_capacity=0,
    start_time="2999-01-07T10:50:00Z",
)
