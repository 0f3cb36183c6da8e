"""IAM: roles with their policies, instance profiles, OIDC providers, customer managed policies."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's IAM objects."""
    iam = clients.client("iam")
    for role in clients.every("iam", "list_roles", "Roles"):
        name = role["RoleName"]
        attached = clients.every(
            "iam", "list_attached_role_policies", "AttachedPolicies", RoleName=name
        )
        inline = clients.every("iam", "list_role_policies", "PolicyNames", RoleName=name)
        details = {
            "path": role["Path"],
            "policies": sorted(policy["PolicyArn"] for policy in attached),
            "inline": sorted(inline),
            "tags": tags(iam.list_role_tags(RoleName=name)["Tags"]),
        }
        yield Item("iam:role", name, details)
    for profile in clients.every("iam", "list_instance_profiles", "InstanceProfiles"):
        roles = sorted(role["RoleName"] for role in profile["Roles"])
        yield Item("iam:instance-profile", profile["InstanceProfileName"], {"roles": roles})
    for policy in clients.every("iam", "list_policies", "Policies", Scope="Local"):
        yield Item("iam:policy", policy["PolicyName"], {"path": policy["Path"]})
    for user in clients.every("iam", "list_users", "Users"):
        yield Item("iam:user", user["UserName"])
    for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
        yield Item("iam:oidc-provider", provider["Arn"])
