"""A node group with EFA in one flat file, as found in many repositories.

It has the most expensive mistake: `placement` together with a reservation. Configuration:
`foreign:capacity` is `odcr` (an AWS-assisted On-Demand Capacity Reservation) or `block` (a Capacity
Block), `foreign:reservation` the reservation's id, `foreign:placement` `false` for the same program
without the mistake, `foreign:vpc`, `foreign:subnet` and `foreign:image` the network and the image
of the nodes.
"""

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
block = config.require("capacity") == "block"

efa = aws.ec2.SecurityGroup("efa", vpc_id=config.require("vpc"), description="EFA")
aws.vpc.SecurityGroupIngressRule(
    "efa-in",
    security_group_id=efa.id,
    referenced_security_group_id=efa.id,
    ip_protocol="-1",
)
aws.vpc.SecurityGroupEgressRule(
    "efa-out",
    security_group_id=efa.id,
    referenced_security_group_id=efa.id,
    ip_protocol="-1",
)

placement = None
if config.get_bool("placement") is not False:
    together = aws.ec2.PlacementGroup("together", strategy="cluster")
    placement = aws.ec2.LaunchTemplatePlacementArgs(group_name=together.name)

template = aws.ec2.LaunchTemplate(
    "p5",
    instance_type="p5.48xlarge",
    image_id=config.require("image"),
    placement=placement,
    instance_market_options={"market_type": "capacity-block"} if block else None,
    capacity_reservation_specification={
        "capacity_reservation_preference": "capacity-reservations-only",
        "capacity_reservation_target": {"capacity_reservation_id": config.require("reservation")},
    },
    metadata_options={"http_endpoint": "enabled", "http_tokens": "required"},
    block_device_mappings=[
        {
            "device_name": "/dev/xvda",
            "ebs": {"volume_size": 500, "volume_type": "gp3", "encrypted": "true"},
        }
    ],
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa",
            "security_groups": [efa.id],
            "delete_on_termination": "true",
        }
        for card in range(32)
    ],
)

nodes = aws.autoscaling.Group(
    "p5",
    min_size=0,
    max_size=2,
    desired_capacity=0,
    vpc_zone_identifiers=[config.require("subnet")],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
)

if block:
    aws.autoscaling.Schedule(
        "end",
        scheduled_action_name="end-of-the-block",
        autoscaling_group_name=nodes.name,
        min_size=0,
        max_size=2,
        desired_capacity=0,
        start_time="2999-12-07T11:00:00Z",
    )
