"""Whether a caller may assume a role of the accounts of a sandbox; moto refuses nobody.

A caller assumes a role that exists, whose trust policy names the account of the caller, with the
external id that it asks for. A role whose trust policy names a service only is refused to every
user and role: services and instances get its credentials without this call.

Sources:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_roles.html#troubleshoot_roles_cant-assume-role
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_common-scenarios_third-party.html:
        the condition `sts:ExternalId`
    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles.html#iam-term-role-chaining: a session
        of a chained role has at most one hour
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from moto.iam.models import iam_backends
from moto.sts.models import sts_backends

from trainyard.sandbox.account.stacks import accounts
from trainyard.sandbox.aws.unimplemented import Call, error_response
from trainyard.sandbox.wsgi import Answer

_PARTITION = "aws"
_LONGEST_CHAINED_SECONDS = 3600


def refusal(call: Call, body: bytes, access_key_id: str, account_id: str) -> Answer | None:
    """Return the response to an AssumeRole that is refused; None if the caller may.

    Args:
        call: The call.
        body: Body of the request.
        access_key_id: The access key of the caller.
        account_id: The account of the caller.
    """
    given = {key: values[0] for key, values in parse_qs(body.decode("utf-8", "replace")).items()}
    caller, role_arn = caller_arn(access_key_id, account_id), given.get("RoleArn", "")
    role = _role(role_arn)
    trust = json.loads(role.assume_role_policy_document) if role else {}
    if role is None or not _trusts(trust, account_id, caller, given.get("ExternalId")):
        message = (
            f"User: {caller} is not authorized to perform: sts:AssumeRole on resource: {role_arn}"
        )
        return error_response(call, "AccessDenied", message, "403 FORBIDDEN")
    seconds = int(given.get("DurationSeconds", 0))
    if ":assumed-role/" in caller and seconds > _LONGEST_CHAINED_SECONDS:
        message = (
            "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by "
            "role chaining"
        )
        return error_response(call, "ValidationError", message)
    return None


def caller_arn(access_key_id: str, account_id: str) -> str:
    """Return STS's ARN of an access key of an account; the sandbox's is that of the creator."""
    backend = sts_backends[account_id][_PARTITION]
    _, arn, _ = backend.get_caller_identity(access_key_id, "us-east-1")
    # moto reports its default user as one of STS, but users belong to IAM.
    return arn.replace(":sts:", ":iam:") if ":user/" in arn else arn


def _role(arn: str) -> Any:
    account_id = (arn.split(":") + [""] * 5)[4]
    if account_id not in accounts():
        return None
    roles = iam_backends[account_id][_PARTITION].roles.values()
    return next((role for role in roles if role.arn == arn), None)


def _trusts(
    trust: Mapping[str, Any], account_id: str, caller: str, external_id: str | None
) -> bool:
    statements = trust.get("Statement") or []
    given = statements if isinstance(statements, list) else [statements]
    return any(
        _names(_principal(each).get("AWS", []), account_id, caller) and _fits(each, external_id)
        for each in given
        if each.get("Effect") == "Allow"
    )


def _principal(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    principal = statement.get("Principal") or {}
    return {"AWS": principal} if isinstance(principal, str) else principal


def _names(principals: str | list[str], account_id: str, caller: str) -> bool:
    root = f"arn:{_PARTITION}:iam::{account_id}:root"
    given = [principals] if isinstance(principals, str) else principals
    return any(each in ("*", account_id, root, caller, _role_of(caller)) for each in given)


def _role_of(caller: str) -> str:
    """Return the ARN of the role of a session, as a trust policy names it."""
    place, _, session = caller.partition(":assumed-role/")
    return f"{place.replace(':sts:', ':iam:')}:role/{session.partition('/')[0]}"


def _fits(statement: Mapping[str, Any], external_id: str | None) -> bool:
    equal = (statement.get("Condition") or {}).get("StringEquals") or {}
    asked = equal.get("sts:ExternalId")
    return asked is None or asked == external_id
