"""State Manager associations of Systems Manager, which moto lacks.

The sandbox stores associations and runs nothing: only head nodes of Slurm clusters have an SSM
Agent, and the stacks have associations for other nodes.

Sources: https://docs.aws.amazon.com/systems-manager/latest/APIReference/, `API_CreateAssociation`,
`API_DescribeAssociation`, `API_UpdateAssociation`, `API_DeleteAssociation` and
`API_ListAssociations`.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.responses import ActionResult, EmptyResult
from moto.ssm.exceptions import SSMException

from trainyard.sandbox.aws.ssm_commands import SHELL_SCRIPT, CommandCalls, check_parameters

_GIVEN = ("Name", "AssociationName", "Parameters", "Targets")
"""Arguments that are stored."""
_DEFAULTS = {"ApplyOnlyAtCronInterval": False, "DocumentVersion": "$DEFAULT"}
"""Other arguments that the provider sends, with the only value that is implemented."""


@dataclass(kw_only=True)
class Association:
    """A document that Systems Manager runs on the nodes with a tag."""

    association_id: str
    given: dict[str, Any]
    created_at: datetime
    changed_at: datetime
    version: int = 1
    tags: dict[str, str] = field(default_factory=dict[str, str])

    def described(self) -> dict[str, Any]:
        """Return it as in DescribeAssociation."""
        return {
            **self.given,
            **_DEFAULTS,
            "AssociationId": self.association_id,
            "AssociationVersion": str(self.version),
            "Date": self.created_at,
            "LastUpdateAssociationDate": self.changed_at,
            "Overview": {"Status": "Pending", "DetailedStatus": "Creating"},
        }

    def listed(self) -> dict[str, Any]:
        """Return it as in ListAssociations."""
        described = self.described()
        kept = ("Name", "AssociationId", "AssociationVersion", "DocumentVersion", "Targets")
        return {key: described.get(key) for key in (*kept, "AssociationName", "Overview")}


class AssociationStore(BaseBackend):
    """The associations of an account and region, by id; moto resets it with its own backends."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.associations: dict[str, Association] = {}


association_stores: BackendDict[AssociationStore] = BackendDict(AssociationStore, "ssm")


class SandboxSsmResponse(CommandCalls):
    """Systems Manager with associations, and with commands on head nodes."""

    @property
    def _associations(self) -> dict[str, Association]:
        return association_stores[self.current_account][self.region].associations

    def create_association(self) -> ActionResult:
        """CreateAssociation: also a second one of the same name."""
        now = datetime.now(UTC)
        made = Association(
            association_id=str(uuid.uuid4()), given=self._given(), created_at=now, changed_at=now
        )
        made.tags = {each["Key"]: each["Value"] for each in self._get_param("Tags") or ()}
        self._associations[made.association_id] = made
        return ActionResult({"AssociationDescription": made.described()})

    def describe_association(self) -> ActionResult:
        """DescribeAssociation, by id."""
        return ActionResult({"AssociationDescription": self._named().described()})

    def update_association(self) -> ActionResult:
        """UpdateAssociation: what is omitted is removed."""
        found = self._named()
        given = self._given(name=found.given["Name"])
        found.given, found.version, found.changed_at = given, found.version + 1, datetime.now(UTC)
        return ActionResult({"AssociationDescription": found.described()})

    def delete_association(self) -> ActionResult:
        """DeleteAssociation, by id."""
        del self._associations[self._named().association_id]
        return EmptyResult()

    def list_associations(self) -> ActionResult:
        """ListAssociations in one page, all or by association name."""
        found = list(self._associations.values())
        for each in self._get_param("AssociationFilterList") or ():
            if each["key"] != "AssociationName":
                raise NotImplementedError(f"the filter {each['key']}")
            found = [one for one in found if one.given.get("AssociationName") == each["value"]]
        return ActionResult({"Associations": [one.listed() for one in found]})

    def add_tags_to_resource(self) -> ActionResult:
        """AddTagsToResource."""
        if self._get_param("ResourceType") != "Association":
            return super().add_tags_to_resource()
        added = {each["Key"]: each["Value"] for each in self._get_param("Tags")}
        self._tagged().update(added)
        return EmptyResult()

    def remove_tags_from_resource(self) -> ActionResult:
        """RemoveTagsFromResource."""
        if self._get_param("ResourceType") != "Association":
            return super().remove_tags_from_resource()
        tags = self._tagged()
        for key in self._get_param("TagKeys"):
            tags.pop(key, None)
        return EmptyResult()

    def list_tags_for_resource(self) -> ActionResult:
        """ListTagsForResource."""
        if self._get_param("ResourceType") != "Association":
            return super().list_tags_for_resource()
        tags = [{"Key": key, "Value": value} for key, value in self._tagged().items()]
        return ActionResult({"TagList": tags})

    def _tagged(self) -> dict[str, str]:
        found = self._associations.get(self._get_param("ResourceId"))
        if found is None:
            raise SSMException("InvalidResourceId", "The resource ID isn't valid.")
        return found.tags

    def _named(self) -> Association:
        wanted = self._get_param("AssociationId")
        if wanted is None:
            raise NotImplementedError("an association without its id")
        found = self._associations.get(wanted)
        if found is None:
            raise SSMException(
                "AssociationDoesNotExist", "The specified association does not exist."
            )
        return found

    def _given(self, *, name: str | None = None) -> dict[str, Any]:
        asked: dict[str, Any] = json.loads(self.body)
        asked.setdefault("Name", name)
        known = {*_GIVEN, "Tags", "AssociationId"}
        rest = {key: value for key, value in asked.items() if key not in known}
        other = [key for key, value in rest.items() if value != _DEFAULTS.get(key)]
        if other:
            raise NotImplementedError(f"associations with {', '.join(other)}")
        given = {key: asked[key] for key in _GIVEN if asked.get(key)}
        _check_document(given)
        for target in given.get("Targets", ()):
            if not target["Key"].startswith("tag:"):
                raise NotImplementedError(f"targets by {target['Key']}")
        return given


def _check_document(given: dict[str, Any]) -> None:
    if given["Name"] != SHELL_SCRIPT:
        raise NotImplementedError(f"associations of the document {given['Name']}")
    check_parameters(given.get("Parameters", {}))
