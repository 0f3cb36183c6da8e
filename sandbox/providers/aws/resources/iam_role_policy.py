"""Inline policies of IAM roles.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/iam/rolepolicy/
"""

from __future__ import annotations

import json
from typing import Any

from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values


def _put(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("iam").put_role_policy(
        RoleName=inputs["role"],
        PolicyName=inputs["name"],
        PolicyDocument=_text(inputs["policy"]),
    )
    # The official provider's id: https://www.pulumi.com/registry/packages/aws/api-docs/iam/rolepolicy/#import
    return f"{inputs['role']}:{inputs['name']}", {}


def _read(account: Account, identifier: str) -> Values:
    role, _, name = identifier.partition(":")
    found = account.client("iam").get_role_policy(RoleName=role, PolicyName=name)
    return {"role": role, "name": name, "policy": json.dumps(found["PolicyDocument"])}


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    _put(account, news)


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    role, _, name = identifier.partition(":")
    account.client("iam").delete_role_policy(RoleName=role, PolicyName=name)


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


ROLE_POLICY = ResourceType(
    token="aws:iam/rolePolicy:RolePolicy",
    inputs=frozenset({"name", "role", "policy"}),
    required=frozenset({"role", "policy"}),
    computed=frozenset(),
    replace_on=frozenset({"name", "role"}),
    name_property="name",
    # https://docs.aws.amazon.com/IAM/latest/APIReference/API_PutRolePolicy.html
    name_limit=128,
    create=_put,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (ROLE_POLICY,)
