"""EKS add-ons.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/eks/addon/
"""

from __future__ import annotations

from typing import Any

from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.resources.eks_cluster import retag, wait

OPTIONS = {
    "addonVersion": "addonVersion",
    "configurationValues": "configurationValues",
    "serviceAccountRoleArn": "serviceAccountRoleArn",
    "podIdentityAssociations": "podIdentityAssociations",
}
"""Inputs that are parameters of CreateAddon and UpdateAddon."""
EMPTY: dict[str, Any] = {"configurationValues": "", "podIdentityAssociations": []}
"""What takes an option back; the other two stay as they are."""


def _options(inputs: Values) -> dict[str, Any]:
    return {aws: inputs[key] for key, aws in OPTIONS.items() if inputs.get(key)}


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    cluster, name = inputs["clusterName"], inputs["addonName"]
    options = _options(inputs)
    if inputs.get("resolveConflictsOnCreate"):
        options["resolveConflicts"] = inputs["resolveConflictsOnCreate"]
    if inputs.get("tags"):
        options["tags"] = inputs["tags"]
    account.client("eks").create_addon(clusterName=cluster, addonName=name, **options)
    return f"{cluster}:{name}", {}


def _settle(account: Account, identifier: str, inputs: Values) -> None:
    wait(lambda: _describe(account, identifier), "ACTIVE")


def _describe(account: Account, identifier: str) -> dict[str, Any]:
    cluster, _, name = identifier.partition(":")
    return account.client("eks").describe_addon(clusterName=cluster, addonName=name)["addon"]


def _read(account: Account, identifier: str) -> Values:
    addon = _describe(account, identifier)
    return {
        "arn": addon["addonArn"],
        "clusterName": addon["clusterName"],
        "addonName": addon["addonName"],
        "addonVersion": addon["addonVersion"],
        "configurationValues": addon.get("configurationValues") or None,
        "serviceAccountRoleArn": addon.get("serviceAccountRoleArn"),
        "podIdentityAssociations": _associations(account, addon) or None,
        "tags": addon.get("tags") or None,
        "createdAt": addon["createdAt"].isoformat(),
        "modifiedAt": addon["modifiedAt"].isoformat(),
    }


def _associations(account: Account, addon: dict[str, Any]) -> list[dict[str, str]]:
    """Return role and service account of each; the add-on itself tells only their ARNs."""
    eks = account.client("eks")
    found: list[dict[str, str]] = []
    for arn in addon.get("podIdentityAssociations") or []:
        association = eks.describe_pod_identity_association(
            clusterName=addon["clusterName"], associationId=arn.rpartition("/")[2]
        )["association"]
        found.append({key: association[key] for key in ("roleArn", "serviceAccount")})
    return found


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    if any(olds.get(key) != news.get(key) for key in OPTIONS):
        cluster, _, name = identifier.partition(":")
        options = _options(news)
        for key, nothing in EMPTY.items():
            if olds.get(key) and not news.get(key):
                options[key] = nothing
        if news.get("resolveConflictsOnUpdate"):
            options["resolveConflicts"] = news["resolveConflictsOnUpdate"]
        account.client("eks").update_addon(clusterName=cluster, addonName=name, **options)
    retag(account, _describe(account, identifier)["addonArn"], olds, news)
    wait(lambda: _describe(account, identifier), "ACTIVE")


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    cluster, _, name = identifier.partition(":")
    account.client("eks").delete_addon(
        clusterName=cluster, addonName=name, preserve=bool(outputs.get("preserve"))
    )
    wait(lambda: _describe(account, identifier), None)


ADDON = ResourceType(
    token="aws:eks/addon:Addon",
    inputs=frozenset(
        {
            "clusterName",
            "addonName",
            "preserve",
            "resolveConflictsOnCreate",
            "resolveConflictsOnUpdate",
            "tags",
            *OPTIONS,
        }
    ),
    required=frozenset({"clusterName", "addonName"}),
    computed=frozenset({"arn", "createdAt", "modifiedAt", "addonVersion"}),
    replace_on=frozenset({"clusterName", "addonName"}),
    recomputed=frozenset({"modifiedAt"}),
    create=_create,
    settle=_settle,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (ADDON,)
