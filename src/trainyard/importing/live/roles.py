"""The answers of IAM about the roles of nodes and jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.lookup import AccountReader

Answer = Mapping[str, Any]

KEYS = {
    "GetInstanceProfile": "sections",
    "GetInstanceProfile.InstanceProfileName": "text",
    "GetInstanceProfile.RoleName": "text",
    # The role is in the request, not in the answer.
    "ListAttachedRolePolicies": "sections",
    "ListAttachedRolePolicies.RoleName": "text",
    "ListAttachedRolePolicies.AttachedPolicies": "sections",
    "ListAttachedRolePolicies.AttachedPolicies.PolicyArn": "text",
    "ListAttachedRolePolicies.AttachedPolicies.PolicyName": "text",
    "GetRolePolicy": "sections",
    "GetRolePolicy.RoleName": "text",
    "GetRolePolicy.PolicyName": "text",
    "GetRolePolicy.PolicyDocument": "any",
}
"""The keys of the answers, with their kinds in a key table."""


def read_profiles(reader: AccountReader, names: Iterable[str]) -> Iterator[Answer]:
    """Yield the roles of instance profiles, by the names of the profiles; empty ones are none."""
    do = reader.client("iam").get_instance_profile
    for name in dict.fromkeys(filter(None, names)):
        answer = reader.ask("iam:GetInstanceProfile", do, InstanceProfileName=name)
        for role in (answer or {}).get("InstanceProfile", {}).get("Roles", []):
            yield {"InstanceProfileName": name, "RoleName": role["RoleName"]}


def read_attached(reader: AccountReader, role: str) -> Answer:
    """Return the managed policies of a role."""
    do = reader.client("iam").list_attached_role_policies
    policies = _marked(reader, "iam:ListAttachedRolePolicies", do, "AttachedPolicies", role)
    return {"RoleName": role, "AttachedPolicies": policies}


def read_inline(reader: AccountReader, role: str) -> Iterator[Answer]:
    """Yield the inline policies of a role."""
    iam = reader.client("iam")
    for name in _marked(
        reader, "iam:ListRolePolicies", iam.list_role_policies, "PolicyNames", role
    ):
        found = reader.ask("iam:GetRolePolicy", iam.get_role_policy, RoleName=role, PolicyName=name)
        if found:
            yield {key: found[key] for key in ("RoleName", "PolicyName", "PolicyDocument")}


def _marked(reader: AccountReader, call: str, do: Any, key: str, role: str) -> list[Any]:
    """Return the entries of a list of IAM, which answers `Marker` and takes it back."""
    pages = reader.pages(call, do, next_key="Marker", RoleName=role)
    return [each for page in pages for each in page[key]]
