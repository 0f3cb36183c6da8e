"""Read CloudFormation stacks by name.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

DESCRIBE_STACKS = "cloudformation:DescribeStacks"


def none_without_stack(do: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call so that it returns None for a stack that does not exist.

    CloudFormation has no specific error for this, only ValidationError.
    """

    def call(**arguments: Any) -> Any:
        try:
            return do(**arguments)
        except ClientError as error:
            said = error.response.get("Error", {})
            if said.get("Code") == "ValidationError" and "not exist" in said.get("Message", ""):
                return None
            raise

    return call
