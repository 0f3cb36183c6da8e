"""Trust policies of roles: those of nodes, and of services for one account."""

from __future__ import annotations

import json

from trainyard.components.naming import dns_suffix

# The trust policy of node roles, for EC2 instances.
#
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2.html


def ec2_trust_policy(region: str) -> str:
    """Return the trust policy for instances in a region, as JSON.

    The service principal depends on the partition: `ec2.amazonaws.com`, `ec2.amazonaws.com.cn` in
    China, or names such as `ec2.c2s.ic.gov` in isolated partitions.
    """
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "sts:AssumeRole",
                    "Principal": {"Service": f"ec2.{dns_suffix(region)}"},
                }
            ],
        }
    )


# The trust policy of a role that a service takes for requests of one account only.
#
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html


def service_trust(service: str, account_id: str, source_arn: str | None = None) -> str:
    """Return the trust policy, as JSON.

    Args:
        service: Service principal, such as `scheduler.amazonaws.com`.
        account_id: Account of the requests (`aws:SourceAccount`).
        source_arn: Pattern of the ARNs for which the service takes the role (`aws:SourceArn`);
            None for any of the account.
    """
    sources = {} if source_arn is None else {"ArnLike": {"aws:SourceArn": source_arn}}
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "sts:AssumeRole",
                    "Principal": {"Service": service},
                    "Condition": {
                        "StringEquals": {"aws:SourceAccount": account_id},
                        **sources,
                    },
                }
            ],
        }
    )
