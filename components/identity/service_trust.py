"""The trust policy of a role that a service takes for requests of one account only.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
"""

from __future__ import annotations

import json


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
