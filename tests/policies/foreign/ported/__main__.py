"""A CloudFormation template of a Capacity Block, ported line by line, with its faults.

Everything is literal, as in the template: the reservation, the network, the image.
"""

import pulumi_aws as aws

SUBNET = "subnet-0b000000000000002"
NODE_GROUP = "sg-0123456789abcdef0"

placement_group = aws.ec2.PlacementGroup("PlacementGroup", strategy="cluster")

template = aws.ec2.LaunchTemplate(
    "NodeLaunchTemplate",
    name="p5-nodes",
    image_id="ami-0123456789abcdef0",
    instance_type="p5.48xlarge",
    vpc_security_group_ids=[NODE_GROUP],
    placement={"group_name": placement_group.name},
    instance_market_options={"market_type": "capacity-block"},
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
    },
    metadata_options={"http_tokens": "optional", "http_put_response_hop_limit": 2},
    block_device_mappings=[
        {"device_name": "/dev/xvda", "ebs": {"volume_size": 500, "volume_type": "gp2"}}
    ],
    network_interfaces=[
        {
            "device_index": card,
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
    min_size=2,
    desired_capacity=1,
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
