"""The managed policies of roles: those that a stack attaches too."""

from __future__ import annotations

import re

from trainyard.importing.cloudformation.template import Resource
from trainyard.importing.cloudformation.values import claim_unknown, is_known
from trainyard.importing.draft import Draft

_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")
_OF_ECS = ("service-role/AmazonEC2ContainerServiceforEC2Role",)


def read_policies(role: Resource, draft: Draft) -> None:
    """Read the managed policies of a role into `iam_policies`."""
    for arn in role.at("ManagedPolicyArns").items():
        text = str(arn.value)
        match = _AWS_POLICY.fullmatch(text)
        name = match["name"] if match else text
        if name in _OF_ECS:
            arn.implied("nodes have the permissions of the ECS agent")
        elif is_known(arn):
            names = draft.values.setdefault("iam_policies", [])
            if name not in names:
                names.append(name)
            arn.claim("taken over", ours=(*draft.at, "iam_policies", names.index(name)))
        else:
            claim_unknown(arn, (*draft.at, "iam_policies"))
