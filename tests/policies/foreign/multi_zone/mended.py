"""The same VPC, with the nodes in one of its zones and rules that reference their group."""

import pulumi_aws as aws

ZONES = ["us-west-2a", "us-west-2b", "us-west-2c"]

vpc = aws.ec2.Vpc("this", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
gateway = aws.ec2.InternetGateway("this", vpc_id=vpc.id)
public = aws.ec2.Subnet(
    "public-0", vpc_id=vpc.id, availability_zone=ZONES[0], cidr_block="10.0.0.0/24"
)
address = aws.ec2.Eip("nat", domain="vpc")
nat = aws.ec2.NatGateway("this", subnet_id=public.id, allocation_id=address.id)
outward = aws.ec2.RouteTable("public", vpc_id=vpc.id)
aws.ec2.Route(
    "public",
    route_table_id=outward.id,
    destination_cidr_block="0.0.0.0/0",
    gateway_id=gateway.id,
)
aws.ec2.RouteTableAssociation("public-0", subnet_id=public.id, route_table_id=outward.id)
inward = aws.ec2.RouteTable("private", vpc_id=vpc.id)
aws.ec2.Route(
    "private",
    route_table_id=inward.id,
    destination_cidr_block="0.0.0.0/0",
    nat_gateway_id=nat.id,
)

private = []
for index, zone in enumerate(ZONES):
    subnet = aws.ec2.Subnet(
        f"private-{index}",
        vpc_id=vpc.id,
        availability_zone=zone,
        cidr_block=f"10.0.{16 * (index + 1)}.0/20",
    )
    aws.ec2.RouteTableAssociation(f"private-{index}", subnet_id=subnet.id, route_table_id=inward.id)
    private.append(subnet)

nodes_group = aws.ec2.SecurityGroup(
    "nodes",
    vpc_id=vpc.id,
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[
        {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True},
        {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]},
    ],
)
together = aws.ec2.PlacementGroup("this", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "this",
    instance_type="p4d.24xlarge",
    image_id="ami-0123456789abcdef0",
    placement={"group_name": together.name},
    metadata_options={"http_tokens": "required"},
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa",
            "security_groups": [nodes_group.id],
        }
        for card in range(4)
    ],
)
aws.autoscaling.Group(
    "this",
    min_size=0,
    desired_capacity=4,
    max_size=4,
    vpc_zone_identifiers=[private[1].id],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
)
