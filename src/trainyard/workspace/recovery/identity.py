"""Roles, role policies, instance profiles, and OIDC providers.

Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/iam/ (section "Import" of
each type).
"""

from __future__ import annotations

from trainyard.workspace.recovery.account import Account, Found, tag_map
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_content, by_name


def _role(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    role = account.one("iam", "get_role", "Role", RoleName=name)
    return [Found(name, tags=tag_map(role.get("Tags")))] if role else []


def _profile(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    profile = account.one(
        "iam", "get_instance_profile", "InstanceProfile", InstanceProfileName=name
    )
    return [Found(name, tags=tag_map(profile.get("Tags")))] if profile else []


def _role_policy(account: Account, create: PendingCreate) -> list[Found]:
    role, name = create.inputs["role"], create.inputs["name"]
    names = account.all("iam", "list_role_policies", "PolicyNames", RoleName=role)
    return [Found(f"{role}:{name}")] if name in names else []


def _attachment(account: Account, create: PendingCreate) -> list[Found]:
    role, policy = create.inputs["role"], create.inputs["policyArn"]
    attached = account.all("iam", "list_attached_role_policies", "AttachedPolicies", RoleName=role)
    arns = {each["PolicyArn"] for each in attached}
    return [Found(f"{role}/{policy}")] if policy in arns else []


def _oidc_provider(account: Account, create: PendingCreate) -> list[Found]:
    # Its ARN ends with the URL without the scheme.
    # https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetOpenIDConnectProvider.html
    ending = "/".join(["oidc-provider", create.inputs["url"].removeprefix("https://")])
    providers = account.all("iam", "list_open_id_connect_providers", "OpenIDConnectProviderList")
    return [Found(each["Arn"]) for each in providers if each["Arn"].endswith(f":{ending}")]


WAYS: dict[str, Way] = {
    "aws:iam/role:Role": by_name("iam:GetRole", _role),
    "aws:iam/instanceProfile:InstanceProfile": by_name("iam:GetInstanceProfile", _profile),
    "aws:iam/rolePolicy:RolePolicy": by_name("iam:ListRolePolicies", _role_policy),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": by_content(
        "iam:ListAttachedRolePolicies", _attachment
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": by_name(
        "iam:ListOpenIDConnectProviders", _oidc_provider
    ),
}
