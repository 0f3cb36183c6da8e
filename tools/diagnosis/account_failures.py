"""What to do where the account itself stands in the way: names that are taken, limits reached.

Sources of the codes: the "Errors" of each call in the API references, such as
https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html, and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
"""

from __future__ import annotations

import re

from components.tagging import RESOURCE_TAG, resource_tag
from tools.workspace.engine_events import EngineError
from tools.workspace.urns import project_of, stack_of

TAKEN = re.compile(
    r"\b(?:\w*AlreadyExists(?:Exception)?|Invalid\w+\.Duplicate|InvalidSubnet\.Conflict|"
    r"Object already exists|group already exists)\b"
)
"""In the message where an object of the name exists."""
LIMIT = re.compile(
    r"\b(?!RequestLimitExceeded)\w*(?:LimitExceeded(?:Exception)?|QuotaExceeded(?:Exception)?|"
    r"TooManyBuckets)\b"
)
"""In the message where a quota is used up."""


def taken(error: EngineError, *, region: str) -> list[str]:
    """Return what to do where AWS has an object that the state does not know.

    A create whose answer is lost leads there: the provider asks again, and what it has just made
    stands in its way.
    """
    name = error.resource_name or "what was to be made"
    found = [
        (
            f"{name}: an object like it exists, and the state has none. Either its answer was lost "
            "on the way and it is this stack's own, or it is somebody else's"
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
            f"  it is this stack's own if it has the tag {RESOURCE_TAG}={value}; see with",
            (
                f"  aws resourcegroupstaggingapi get-resources --region {region} --tag-filters "
                f"'Key={RESOURCE_TAG},Values={value}'"
            ),
        ]
    return [
        *found,
        "  its own: delete it, nothing uses it yet, and go on; another's: choose another name",
    ]


def limit(error: EngineError) -> list[str]:
    """Return what to do where a quota of the account is used up."""
    return [
        (
            f"{error.resource_name or 'the account'}: a quota of the account is used up. Its page "
            "is https://console.aws.amazon.com/servicequotas/; raise it, or delete what is not "
            "in use, and go on"
        )
    ]
