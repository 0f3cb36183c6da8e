"""Advice for failures caused by the account: names in use, quotas reached.

Sources of the codes: the "Errors" of each call in the API references, such as
https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html, and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
"""

from __future__ import annotations

import re

from trainyard.components.tagging import RESOURCE_TAG, resource_tag
from trainyard.engine.engine_events import EngineError
from trainyard.workspace.urns import project_of, stack_of

TAKEN = re.compile(
    r"\b(?:\w*AlreadyExists(?:Exception)?|BucketAlreadyOwnedByYou|Invalid\w+\.Duplicate|"
    r"InvalidSubnet\.Conflict|Object already exists|group already exists)\b"
)
"""Error codes and messages if an object with the name exists."""
LIMIT = re.compile(
    r"\b(?!RequestLimitExceeded)\w*(?:LimitExceeded(?:Exception)?|QuotaExceeded(?:Exception)?|"
    r"TooManyBuckets)\b"
)
"""Error codes if a quota is reached."""


def taken(error: EngineError, *, region: str) -> list[str]:
    """Return advice for an object that exists in AWS but not in the state.

    This happens when the response to a create is lost: the provider repeats the request, which
    conflicts with the object that the first request created.
    """
    name = error.resource_name or "the new object"
    found = [
        (
            f"{name}: such an object already exists, but is not in the state. Either it belongs to "
            "this stack and the response to its creation was lost, or it belongs to another owner"
        )
    ]
    if error.resource_name:
        value = resource_tag(
            stack=stack_of(error.urn),
            project=project_of(error.urn),
            type_token=error.resource_type,
            name=error.resource_name,
        )
        found += [
            f"  it belongs to this stack if it has the tag {RESOURCE_TAG}={value}; to check:",
            (
                f"  aws resourcegroupstaggingapi get-resources --region {region} --tag-filters "
                f"'Key={RESOURCE_TAG},Values={value}'"
            ),
        ]
    return [
        *found,
        (
            "  if it belongs to this stack, delete it (nothing uses it yet) and continue; "
            "otherwise choose another name"
        ),
    ]


def limit(error: EngineError) -> list[str]:
    """Return advice for a quota of the account that is reached."""
    return [
        (
            f"{error.resource_name or 'the account'}: a quota of the account is reached. Request "
            "an increase at https://console.aws.amazon.com/servicequotas/, or delete unused "
            "resources, and continue"
        )
    ]
