"""IAM roles, attachments, instance profiles and OIDC providers.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/iam/
"""

from __future__ import annotations

import json
from typing import Any

from sandbox.providers.aws.account import Account, removed_tags, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import says, until_propagated


def _create_role(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("iam").create_role(
        RoleName=inputs["name"],
        Path=inputs["path"],
        AssumeRolePolicyDocument=_text(inputs["assumeRolePolicy"]),
        Description=inputs.get("description", ""),
        MaxSessionDuration=inputs["maxSessionDuration"],
        Tags=tag_list(inputs.get("tags")),
    )
    return inputs["name"], {}


def _read_role(account: Account, name: str) -> Values:
    role = account.client("iam").get_role(RoleName=name)["Role"]
    return {
        "arn": role["Arn"],
        "name": role["RoleName"],
        "path": role["Path"],
        "uniqueId": role["RoleId"],
        "createDate": role["CreateDate"].isoformat(),
        "description": role.get("Description") or None,
        "maxSessionDuration": role.get("MaxSessionDuration", 3600),
        "assumeRolePolicy": json.dumps(role["AssumeRolePolicyDocument"]),
        "tags": tag_map(role.get("Tags")) or None,
    }


def _update_role(account: Account, name: str, olds: Values, news: Values) -> None:
    iam = account.client("iam")
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=_text(news["assumeRolePolicy"]))
    iam.update_role(
        RoleName=name,
        Description=news.get("description", ""),
        MaxSessionDuration=news["maxSessionDuration"],
    )
    gone = removed_tags(olds, news)
    if gone:
        iam.untag_role(RoleName=name, TagKeys=gone)
    iam.tag_role(RoleName=name, Tags=tag_list(news.get("tags")))


def _delete_role(account: Account, name: str, outputs: Values) -> None:
    account.client("iam").delete_role(RoleName=name)


ROLE = ResourceType(
    token="aws:iam/role:Role",
    inputs=frozenset(
        {"name", "path", "assumeRolePolicy", "description", "maxSessionDuration", "tags"}
    ),
    required=frozenset({"assumeRolePolicy"}),
    computed=frozenset({"arn", "uniqueId", "createDate"}),
    replace_on=frozenset({"name", "path"}),
    name_property="name",
    name_limit=64,
    defaults={"path": "/", "maxSessionDuration": 3600},
    create=_create_role,
    read=_read_role,
    update=_update_role,
    delete=_delete_role,
)


def _create_attachment(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("iam").attach_role_policy(RoleName=inputs["role"], PolicyArn=inputs["policyArn"])
    return f"{inputs['role']}/{inputs['policyArn']}", {}


def _read_attachment(account: Account, identifier: str) -> Values | None:
    role, _, policy = identifier.partition("/")
    pages = account.client("iam").get_paginator("list_attached_role_policies")
    attached = [p for page in pages.paginate(RoleName=role) for p in page["AttachedPolicies"]]
    if policy not in {p["PolicyArn"] for p in attached}:
        return None
    return {"role": role, "policyArn": policy}


def _delete_attachment(account: Account, identifier: str, outputs: Values) -> None:
    role, _, policy = identifier.partition("/")
    account.client("iam").detach_role_policy(RoleName=role, PolicyArn=policy)


ROLE_POLICY_ATTACHMENT = ResourceType(
    token="aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    inputs=frozenset({"role", "policyArn"}),
    required=frozenset({"role", "policyArn"}),
    computed=frozenset(),
    create=_create_attachment,
    read=_read_attachment,
    delete=_delete_attachment,
)


def _create_profile(account: Account, inputs: Values) -> tuple[str, Values]:
    iam = account.client("iam")
    iam.create_instance_profile(
        InstanceProfileName=inputs["name"],
        Path=inputs["path"],
        Tags=tag_list(inputs.get("tags")),
    )
    return inputs["name"], {}


def _settle_profile(account: Account, name: str, inputs: Values) -> None:
    iam, role = account.client("iam"), inputs.get("role")
    if role:
        until_propagated(
            lambda: iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role),
            says("NoSuchEntity", "The role with name"),
        )


def _read_profile(account: Account, name: str) -> Values:
    found = account.client("iam").get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    roles = [role["RoleName"] for role in found["Roles"]]
    return {
        "arn": found["Arn"],
        "name": found["InstanceProfileName"],
        "path": found["Path"],
        "uniqueId": found["InstanceProfileId"],
        "createDate": found["CreateDate"].isoformat(),
        "role": roles[0] if roles else None,
        "tags": tag_map(found.get("Tags")) or None,
    }


def _update_profile(account: Account, name: str, olds: Values, news: Values) -> None:
    iam = account.client("iam")
    if olds.get("role") != news.get("role"):
        if olds.get("role"):
            iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=olds["role"])
        if news.get("role"):
            iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=news["role"])
    gone = removed_tags(olds, news)
    if gone:
        iam.untag_instance_profile(InstanceProfileName=name, TagKeys=gone)
    iam.tag_instance_profile(InstanceProfileName=name, Tags=tag_list(news.get("tags")))


def _delete_profile(account: Account, name: str, outputs: Values) -> None:
    iam = account.client("iam")
    if outputs.get("role"):
        iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=outputs["role"])
    iam.delete_instance_profile(InstanceProfileName=name)


INSTANCE_PROFILE = ResourceType(
    token="aws:iam/instanceProfile:InstanceProfile",
    inputs=frozenset({"name", "path", "role", "tags"}),
    computed=frozenset({"arn", "uniqueId", "createDate"}),
    replace_on=frozenset({"name", "path"}),
    name_property="name",
    name_limit=128,
    defaults={"path": "/"},
    create=_create_profile,
    settle=_settle_profile,
    read=_read_profile,
    update=_update_profile,
    delete=_delete_profile,
)


def _create_oidc(account: Account, inputs: Values) -> tuple[str, Values]:
    answer = account.client("iam").create_open_id_connect_provider(
        Url=inputs["url"],
        ClientIDList=inputs["clientIdLists"],
        ThumbprintList=inputs.get("thumbprintLists", []),
        Tags=tag_list(inputs.get("tags")),
    )
    return answer["OpenIDConnectProviderArn"], {}


def _read_oidc(account: Account, arn: str) -> Values:
    found = account.client("iam").get_open_id_connect_provider(OpenIDConnectProviderArn=arn)
    return {
        "arn": arn,
        # IAM leaves the scheme out.
        "url": f"https://{found['Url'].removeprefix('https://')}",
        "clientIdLists": found["ClientIDList"],
        "thumbprintLists": found["ThumbprintList"],
        "tags": tag_map(found.get("Tags")) or None,
    }


def _update_oidc(account: Account, arn: str, olds: Values, news: Values) -> None:
    iam = account.client("iam")
    iam.update_open_id_connect_provider_thumbprint(
        OpenIDConnectProviderArn=arn, ThumbprintList=news.get("thumbprintLists", [])
    )
    iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=arn, Tags=tag_list(news.get("tags")))


def _delete_oidc(account: Account, arn: str, outputs: Values) -> None:
    account.client("iam").delete_open_id_connect_provider(OpenIDConnectProviderArn=arn)


OPEN_ID_CONNECT_PROVIDER = ResourceType(
    token="aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    inputs=frozenset({"url", "clientIdLists", "thumbprintLists", "tags"}),
    required=frozenset({"url", "clientIdLists"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset({"url", "clientIdLists"}),
    create=_create_oidc,
    read=_read_oidc,
    update=_update_oidc,
    delete=_delete_oidc,
)


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


RESOURCE_TYPES = (ROLE, ROLE_POLICY_ATTACHMENT, INSTANCE_PROFILE, OPEN_ID_CONNECT_PROVIDER)
