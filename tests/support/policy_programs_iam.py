"""Typical programs with IAM policies."""

from __future__ import annotations

import json
from typing import Any

from policies.resources.types import IAM_ROLE_POLICY
from tests.support.policy import Declared

BUCKET = "arn:aws:s3:::checkpoints/*"


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    """Return a statement that allows actions on resources."""
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def document(*statements: Any) -> str:
    """Return a policy as JSON."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def role_policy(*statements: Any) -> Declared:
    """Return the inline policy of a role."""
    return Declared(IAM_ROLE_POLICY, "job", {"role": "job", "policy": document(*statements)})
