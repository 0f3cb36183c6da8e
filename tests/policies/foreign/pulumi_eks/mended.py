"""The same cluster: encrypted disks of the account, session tokens, plugins on every node."""

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
    enable_imd_sv2=True,
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
template = aws.ec2.LaunchTemplate(
    "reserved",
    instance_type="p4d.24xlarge",
    capacity_reservation_specification={
        "capacity_reservation_preference": "capacity-reservations-only",
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0a550000000000001"},
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
# pulumi-eks has no update strategy, and a full reservation needs one.
aws.eks.NodeGroup(
    "reserved",
    cluster_name="training",
    node_role_arn=NODE_ROLE,
    subnet_ids=[SUBNETS[1]],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    scaling_config={"min_size": 0, "desired_size": 2, "max_size": 2},
    taints=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
    update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
)

types = ["p4d.24xlarge", "p5en.48xlarge"]
k8s.apps.v1.DaemonSet(
    "aws-efa-k8s-device-plugin",
    metadata={"name": "aws-efa-k8s-device-plugin", "namespace": "kube-system"},
    spec={
        "selector": {"match_labels": {"name": "efa"}},
        "template": {
            "metadata": {"labels": {"name": "efa"}},
            "spec": {
                "tolerations": [{"operator": "Exists"}],
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
                        "aws-efa-k8s-device-plugin:v0.5.20",
                    }
                ],
            },
        },
    },
)
