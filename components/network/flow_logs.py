"""VPC flow logs in CloudWatch Logs.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.identity.service_trust import service_trust

RETENTION_DAYS = 7
"""As in the VPC templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFlowLogsArgs:
    """Arguments of `VpcFlowLogs`."""

    vpc_id: pulumi.Input[str]
    tags: Mapping[str, str]


class VpcFlowLogs(pulumi.ComponentResource):
    """Flow logs of accepted and rejected traffic of a VPC, in a dedicated log group.

    Children: `<name>-group` (`aws.cloudwatch.LogGroup`), `<name>-role` (`aws.iam.Role`) with
    `<name>-policy` (`aws.iam.RolePolicy`), `<name>-log` (`aws.ec2.FlowLog`).
    """

    log_group_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: VpcFlowLogsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:network:VpcFlowLogs", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)

        group = aws.cloudwatch.LogGroup(
            f"{name}-group", retention_in_days=RETENTION_DAYS, tags=dict(args.tags), opts=child
        )
        role = aws.iam.Role(
            f"{name}-role",
            description="Flow logs of a VPC",
            assume_role_policy=group.arn.apply(trust),
            tags=dict(args.tags),
            opts=child,
        )
        policy = aws.iam.RolePolicy(
            f"{name}-policy", role=role.name, policy=group.arn.apply(_policy), opts=child
        )
        aws.ec2.FlowLog(
            f"{name}-log",
            vpc_id=args.vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags={"Name": name, **args.tags},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
        )
        self.log_group_name = group.name
        self.register_outputs({"log_group_name": self.log_group_name})


def trust(log_group_arn: str) -> str:
    """Return the trust policy of the role: flow logs of the log group's account and region.

    The id of the flow log is a wildcard, as AWS recommends while it is not known: the flow log
    needs the role first.
    """
    _, partition, _, region, account, *_ = log_group_arn.split(":")
    flow_logs = f"arn:{partition}:ec2:{region}:{account}:vpc-flow-log/*"
    return service_trust("vpc-flow-logs.amazonaws.com", account, flow_logs)


def _policy(log_group_arn: str) -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": [
                        "logs:CreateLogStream",
                        "logs:PutLogEvents",
                        "logs:DescribeLogGroups",
                        "logs:DescribeLogStreams",
                    ],
                    "Resource": [log_group_arn, f"{log_group_arn}:*"],
                }
            ],
        }
    )
