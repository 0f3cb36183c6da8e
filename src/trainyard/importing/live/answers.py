"""Answers of AWS about clusters of every kind, their keys, and documents that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainyard.components.account.reader import AccountReader
from trainyard.components.named.lookup import DESCRIBE_STACKS, none_without_stack
from trainyard.components.tagging import CLUSTER_TAG
from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import Format
from trainyard.importing.key_table import Keys
from trainyard.importing.report import Reader, Report
from trainyard.importing.source import Document, Location, Node, child, node_of_value


@dataclass(slots=True)
class Rewritten:
    """Values by their place in the document, and the answers that they come from."""

    format: Format
    values: dict[Location, Any] = field(default_factory=dict[Location, Any])
    origins: list[tuple[Location, Location]] = field(
        default_factory=list[tuple[Location, Location]]
    )
    """Place in the document, and place of the answer."""

    def put(self, at: Location, value: Any) -> None:
        """Set a key that no answer has."""
        self.values[at] = value

    def take(
        self, at: Location, source: Reader, change: Callable[[Any], Any] | None = None
    ) -> None:
        """Set a key to the value of an answer, if there is one."""
        if source.exists:
            self.values[at] = change(source.value) if change else source.value
            self.origins.append((at, source.location))

    def convert(self, source: Reader, stack: StackDraft) -> None:
        """Read the document into a stack file, and report on the answers behind it."""
        conversion = self.format.conversion()
        root, report = _node(self.values), Report()
        conversion.convert(Reader(root, (), report), stack)
        for at, answer in self.origins:
            node = root
            for part in at:
                node = child(node, part) or Node(None, 0)
            keys = conversion.KEYS.keys_of(root, at)
            claim = report.claim_of(at, node.value, conversion.OUTCOMES.rows, keys)
            source.report.claim(replace(claim, location=answer))
        answers = dict(self.origins)
        for ours, at in report.origins.items():
            if at in answers:
                source.report.origins.setdefault(ours, answers[at])
        source.report.notes += report.notes


def _node(values: dict[Location, Any]) -> Node:
    """Return values by location as one document; numbers are indexes of lists."""
    tree: dict[str | int, Any] = {}
    for (*parents, last), value in values.items():
        place = tree
        for part in parents:
            place = place.setdefault(part, {})
        place[last] = value
    return node_of_value(_listed(tree))


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(key, int) for key in tree):
        return [_listed(tree[key]) for key in sorted(tree)]
    return {key: _listed(value) for key, value in tree.items()}


_CLOUDFORMATION_TAG = "aws:cloudformation:stack-name"
CREATORS = (_CLOUDFORMATION_TAG, CLUSTER_TAG)
"""Tags of what a stack of CloudFormation, such as one of eksctl, or of this program created."""
OWNER = "OwnerStack"
"""Key that the program adds to an answer, with the stack that has the object (`owner_of`)."""


def document_of(name: str, answers: Mapping[str, Any]) -> Document:
    """Return the answers about the cluster of a name, without lines."""
    return Document(Path(name), node_of_value(answers))


def owner_of(reader: AccountReader, tags: Mapping[str, str]) -> str:
    """Return the stack that has an object, by its tags; empty without one that exists.

    CloudFormation does not remove its tags from an object that it retains.
    """
    ours, theirs = tags.get(CLUSTER_TAG), tags.get(_CLOUDFORMATION_TAG)
    if ours:
        return f"the stack {ours}"
    do = none_without_stack(reader.client("cloudformation").describe_stacks)
    if theirs and reader.ask(DESCRIBE_STACKS, do, StackName=theirs):
        return f"the CloudFormation stack {theirs}"
    return ""


Answer = Mapping[str, Any]

KEYS_OF_ROLES = {
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


LAUNCH_TEMPLATES = "DescribeLaunchTemplateVersions"


def read_templates(
    reader: AccountReader,
    wanted: Iterable[tuple[str, str, str]],
    shown: Callable[[str], Any],
) -> Iterator[Mapping[str, Any]]:
    """Yield the versions of launch templates that nodes launch with, each once.

    Args:
        reader: The account and region.
        wanted: `LaunchTemplateId` or `LaunchTemplateName`, its value, and the version.
        shown: Returns what the report has of user data in base64, whose text can have secrets.
    """
    for key, template, version in dict.fromkeys(wanted):
        answer = reader.ask(
            f"ec2:{LAUNCH_TEMPLATES}",
            reader.ec2.describe_launch_template_versions,
            if_denied={},
            **{key: template},
            Versions=[version],
        )
        if answer is None:
            reader.leave_out(
                f"launch template {template}, version {version}",
                "EC2 has no such version any more; its nodes cannot be replaced",
            )
        for each in (answer or {}).get("LaunchTemplateVersions", []):
            data = dict(each["LaunchTemplateData"])
            if "UserData" in data:
                data["UserData"] = shown(data["UserData"])
            yield {**each, "LaunchTemplateData": data}


Shapes = Mapping[str, tuple[str, str, str]]
"""Service, operation and path in its answer, by the key of the document that has it."""

_SCALARS = {
    **dict.fromkeys(("integer", "long"), "integer"),
    **dict.fromkeys(("double", "float"), "number"),
    "boolean": "boolean",
}


def keys_of_shapes(shapes: Shapes, added: Mapping[str, str]) -> Mapping[Keys, str]:
    """Return the kind of every key of answers.

    Args:
        shapes: The answers, whose fields are in the models of botocore.
        added: Kinds of keys that the program adds, or that replace those of the models; below one
            that is not read (`any`, `anys`) are no keys.
    """
    import botocore.session  # 0.13 s with the models, for `--live` only

    session = botocore.session.get_session()
    rows = dict(added)
    for key, (service, operation, path) in shapes.items():
        shape: Any = session.get_service_model(service).operation_model(operation).output_shape
        for part in path.split("."):
            shape = shape.members[part]
        rows.setdefault(key, _kind(shape))
        for below, kind in _keys(_item(shape), key, added):
            rows.setdefault(below, kind)
    return {tuple(key.split(".")): kind for key, kind in rows.items()}


def _keys(shape: Any, prefix: str, added: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if shape.type_name != "structure":
        return
    for name, member in shape.members.items():
        path = f"{prefix}.{name}"
        yield path, _kind(member)
        if not added.get(path, "").startswith("any"):
            yield from _keys(_item(member), path, added)


def _item(shape: Any) -> Any:
    return shape.member if shape.type_name == "list" else shape


def _kind(shape: Any) -> str:
    if shape.type_name == "structure":
        return "section"
    if shape.type_name == "list":
        return "sections" if shape.member.type_name == "structure" else "list"
    return "map" if shape.type_name == "map" else _SCALARS.get(shape.type_name, "text")
