"""Who takes the role of a node: EC2, on behalf of an instance.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2.html
"""

from __future__ import annotations

import json

from components.naming import dns_suffix


def ec2_trust_policy(region: str) -> str:
    """Return the trust policy of a role of instances of a region, as JSON.

    The service principal follows the partition: `ec2.amazonaws.com`, in China
    `ec2.amazonaws.com.cn`, in the isolated partitions `ec2.c2s.ic.gov` and its like.
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
