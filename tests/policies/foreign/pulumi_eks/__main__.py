"""An EKS cluster with pulumi-eks: one node group with its EFA support, one in a reservation.

pulumi-eks refuses a launch template together with `enable_efa_support`, so the nodes of the
reservation have a template of the program.
"""

import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s

SUBNETS = ["subnet-0a000000000000002", "subnet-0b000000000000002"]
NODE_ROLE = "arn:aws:iam::123456789012:role/nodes"

cluster = eks.Cluster(
    "training",
    name="training",
    version="1.35",
    vpc_id="vpc-0123456789abcdef0",
    subnet_ids=SUBNETS,
    skip_default_node_group=True,
    create_oidc_provider=True,
)

eks.ManagedNodeGroup(
    "h200",
    cluster=cluster.core,
    node_role_arn=NODE_ROLE,
    instance_types=["p5en.48xlarge"],
    enable_efa_support=True,
    placement_group_availability_zone="us-west-2b",
    subnet_ids=[SUBNETS[1]],
    disk_size=500,
    scaling_config={"min_size": 0, "desired_size": 2, "max_size": 2},
    taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
)

efa = aws.ec2.SecurityGroup("efa", vpc_id="vpc-0123456789abcdef0")
for direction, rule in (
    ("in", aws.vpc.SecurityGroupIngressRule),
    ("out", aws.vpc.SecurityGroupEgressRule),
):
    rule(
        f"efa-{direction}",
        security_group_id=efa.id,
        referenced_security_group_id=efa.id,
        ip_protocol="-1",
    )
together = aws.ec2.PlacementGroup("reserved", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "reserved",
    instance_type="p4d.24xlarge",
    placement={"group_name": together.name},
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0a550000000000001"}
    },
    metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2},
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa" if card == 0 else "efa-only",
            "security_groups": [efa.id],
        }
        for card in range(4)
    ],
)
eks.ManagedNodeGroup(
    "reserved",
    cluster=cluster.core,
    node_role_arn=NODE_ROLE,
    subnet_ids=[SUBNETS[1]],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    scaling_config={"min_size": 0, "desired_size": 2, "max_size": 2},
    taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
)

types = ["p4d.24xlarge", "p5.48xlarge"]
k8s.apps.v1.DaemonSet(
    "aws-efa-k8s-device-plugin",
    metadata={"name": "aws-efa-k8s-device-plugin", "namespace": "kube-system"},
    spec={
        "selector": {"match_labels": {"name": "efa"}},
        "template": {
            "metadata": {"labels": {"name": "efa"}},
            "spec": {
                "tolerations": [{"key": "aws.amazon.com/efa", "operator": "Exists"}],
                "affinity": {
                    "node_affinity": {
                        "required_during_scheduling_ignored_during_execution": {
                            "node_selector_terms": [
                                {
                                    "match_expressions": [
                                        {
                                            "key": "node.kubernetes.io/instance-type",
                                            "operator": "In",
                                            "values": types,
                                        }
                                    ]
                                }
                            ]
                        }
                    }
                },
                "containers": [
                    {
                        "name": "plugin",
                        "image": "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/"
                        "aws-efa-k8s-device-plugin:v0.5.0",
                    }
                ],
            },
        },
    },
)
