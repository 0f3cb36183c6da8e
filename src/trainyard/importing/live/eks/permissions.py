"""The permissions of the role of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.config.eks import AddonPolicy
from trainyard.components.identity.addon_policies import managed_policies
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location

_EKSCTL_NAMES: Mapping[AddonPolicy, str] = {
    "autoscaler": "autoScaler",
    "cloudwatch": "cloudWatch",
    "ebs": "ebs",
    "fsx": "fsx",
}
_ACTIONS: Mapping[str, str] = {
    "autoscaling:SetDesiredCapacity": "autoScaler",
    "ec2:AttachVolume": "ebs",
    "fsx:CreateFileSystem": "fsx",
}
"""Add-on policy by an action that only it allows."""
_MANAGED = {
    name: _EKSCTL_NAMES[each] for each in _EKSCTL_NAMES for name in managed_policies([each])
}


def role_of_profile(source: Reader, template: Reader | None) -> str:
    """Return the role of an instance profile in a launch template; empty if it is not known."""
    if template is None:
        return ""
    profile = template.at("LaunchTemplateData", "IamInstanceProfile")
    name = str(profile.at("Name").value or profile.at("Arn").value or "").rpartition("/")[2]
    for each in source.at("GetInstanceProfile").items():
        if name and each.at("InstanceProfileName").value == name:
            profile.implied("the stack creates the role and the instance profile")
            return str(each.at("RoleName").value)
    return ""


def read_role(source: Reader, role: str, at: Location, config: Rewritten) -> None:
    """Read the policies of a role."""
    attached = _of_role(source, "ListAttachedRolePolicies", role)
    if not attached:
        return
    policies = (*at, "iam", "withAddonPolicies")
    config.put(policies, {})
    found: dict[str, Reader] = {}
    number = 0
    for policy in attached[0].at("AttachedPolicies").items():
        addon = _MANAGED.get(str(policy.at("PolicyName").value))
        if addon:
            found[addon] = policy
        else:
            config.take((*at, "iam", "attachPolicyARNs", number), policy.at("PolicyArn"))
            policy.at("PolicyName").implied("it is the name of the ARN")
            number += 1
    for policy in _of_role(source, "GetRolePolicy", role):
        for addon in _addons(policy.at("PolicyDocument").value):
            found.setdefault(addon, policy)
    for addon in _EKSCTL_NAMES.values():
        if addon in found:
            config.take((*policies, addon), found[addon], lambda _: True)


def _of_role(source: Reader, call: str, role: str) -> Sequence[Reader]:
    return [each for each in source.at(call).items() if each.at("RoleName").value == role]


def _addons(document: Any) -> Iterator[str]:
    """Yield the add-on policies whose actions a document allows."""
    for statement in _each(document.get("Statement") if isinstance(document, dict) else None):
        if isinstance(statement, dict) and statement.get("Effect") == "Allow":
            for action in _each(statement.get("Action")):
                if action in _ACTIONS:
                    yield _ACTIONS[action]


def _each(value: Any) -> list[Any]:
    """Return a value of a policy as a list: one alone needs none."""
    return value if isinstance(value, list) else [value]
