"""The trust policy of node roles, for EC2 instances.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2.html
"""

from __future__ import annotations

import json

from trainyard.components.naming import dns_suffix


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
