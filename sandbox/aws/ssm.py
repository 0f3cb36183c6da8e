"""Systems Manager: associations, and Run Command on the head nodes of Slurm clusters."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, Protocol

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.models import ec2_backends
from moto.ssm.exceptions import SSMException
from moto.ssm.responses import SimpleSystemManagerResponse

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.parallelcluster.provider.model import CLUSTER_NAME, HEAD_NODE, NODE_TYPE

# Run Command of Systems Manager: `AWS-RunShellScript` on the head nodes of Slurm clusters.
#
# A command runs in a thread, without the account's lock: it starts the Slurm of its cluster if it
# is the first one, and may take an hour. No other instance of the account has an SSM Agent.
#
# Sources:
#     https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html and
#         API_GetCommandInvocation.html: errors, and the first 24,000 and 8,000 characters
#         of the two
#         outputs
#     https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html:
#     statuses
#     https://github.com/aws/amazon-ssm-agent, `agent/plugins/runscript/runscript.go`: the last
#     line
#         of the standard error of a command that fails


LOG = logging.getLogger("sandbox.ssm")

SHELL_SCRIPT = "AWS-RunShellScript"
_PARAMETERS = frozenset({"commands", "workingDirectory", "executionTimeout"})
"""Parameters of the document.
https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-command-ssm-plugin-reference.html
"""
_PLUGIN = "aws:runShellScript"
_OUTPUT_LIMIT, _ERROR_LIMIT = 24_000, 8_000
_DEFAULT_SECONDS = "3600"
_LARGEST_DOCUMENT = 64 * 1024
"""Bytes of a document, "which includes the content specified for input parameters at runtime".
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html, `Content`
"""
_NOT_RUN, _KILLED = -1, 137
"""Response codes of a command that has not ended, and of one that ran into its time limit."""
_KNOWN = frozenset({"InstanceIds", "DocumentName", "TimeoutSeconds", "Parameters", "Comment"})


class HeadNodes(Protocol):
    """The head nodes that run commands."""

    def is_managed(self, cluster: str) -> bool:
        """Return whether the head node of a cluster runs an SSM Agent that may connect."""
        ...

    def run(
        self, cluster: str, commands: Sequence[str], *, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run commands on the head node of a cluster.

        Raises:
            TimeoutExpired: they do not end in time.
        """
        ...


@dataclass
class _Wiring:
    head_nodes: HeadNodes | None = None


_WIRING = _Wiring()


def use_head_nodes(head_nodes: HeadNodes | None) -> None:
    """Set what runs commands; with None, no instance has an SSM Agent."""
    _WIRING.head_nodes = head_nodes


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How far a command is."""

    status: str = "Pending"
    details: str = "Pending"
    code: int = _NOT_RUN
    output: str = ""
    error: str = ""
    ended: datetime | None = None


@dataclass(slots=True, kw_only=True)
class _Invocation:
    """A command on one node; a thread replaces its outcome."""

    command_id: str
    instance_id: str
    comment: str
    sent: datetime
    outcome: _Outcome = field(default_factory=_Outcome)

    def described(self) -> dict[str, Any]:
        """Return it as in GetCommandInvocation."""
        outcome = self.outcome
        described = {
            "CommandId": self.command_id,
            "InstanceId": self.instance_id,
            "Comment": self.comment,
            "DocumentName": SHELL_SCRIPT,
            "PluginName": _PLUGIN,
            "ResponseCode": outcome.code,
            "ExecutionStartDateTime": _iso(self.sent),
            "Status": outcome.status,
            "StatusDetails": outcome.details,
            "StandardOutputContent": outcome.output[:_OUTPUT_LIMIT],
            "StandardErrorContent": outcome.error[:_ERROR_LIMIT],
        }
        if outcome.ended is None:
            return described
        taken = _iso_duration(outcome.ended - self.sent)
        return {
            **described,
            "ExecutionElapsedTime": taken,
            "ExecutionEndDateTime": _iso(outcome.ended),
        }

    def run(self, head_nodes: HeadNodes, cluster: str, parameters: dict[str, Any]) -> None:
        """Run the command to its end."""
        self.outcome = _Outcome("InProgress", "InProgress")
        directory = parameters.get("workingDirectory", [""])[0]
        moved = [f"cd {shlex.quote(directory)}"] if directory else []
        commands = [*moved, *parameters["commands"]]
        seconds = float(parameters.get("executionTimeout", [_DEFAULT_SECONDS])[0])
        try:
            done = head_nodes.run(cluster, commands, timeout_seconds=seconds)
        except subprocess.TimeoutExpired:
            self._end("TimedOut", "ExecutionTimedOut", code=_KILLED)
        except Exception as error:
            LOG.exception("a command on the head node of %s broke", cluster)
            self._end("Failed", "Failed", code=1, error=f"{error}\n")
        else:
            failed = f"failed to run commands: exit status {done.returncode}"
            status = "Failed" if done.returncode else "Success"
            error = f"{done.stderr}{failed}" if done.returncode else done.stderr
            self._end(status, status, code=done.returncode, output=done.stdout, error=error)

    def _end(self, status: str, details: str, **result: Any) -> None:
        self.outcome = _Outcome(status, details, ended=CLOCK.now(), **result)


@dataclass
class _Invocations:
    """All commands of an account and region, by command and node."""

    known: dict[tuple[str, str], _Invocation] = field(default_factory=dict)


class CommandCalls(SimpleSystemManagerResponse):
    """The calls of Run Command."""

    @property
    def _invocations(self) -> dict[tuple[str, str], _Invocation]:
        return state_of(self.ssm_backend, _Invocations).known

    def send_command(self) -> ActionResult:
        """SendCommand: to instances that are named."""
        asked: dict[str, Any] = json.loads(self.body)
        unknown = asked.keys() - _KNOWN
        if unknown:
            raise NotImplementedError(f"commands with {', '.join(sorted(unknown))}")
        if asked["DocumentName"] != SHELL_SCRIPT:
            raise NotImplementedError(f"commands of the document {asked['DocumentName']}")
        parameters = asked.get("Parameters", {})
        check_parameters(parameters)
        instance_ids, head_nodes = asked.get("InstanceIds", []), _WIRING.head_nodes
        clusters = {each: self._managed_cluster(each) for each in instance_ids}
        wrong = [each for each, cluster in clusters.items() if cluster is None]
        if wrong or head_nodes is None:
            listed = ", ".join(wrong or instance_ids)
            _refuse(
                "InvalidInstanceId",
                f"Instances [[{listed}]] not in a valid state for account {self.current_account}",
            )
        sent, command_id = CLOCK.now(), str(uuid.uuid4())
        for instance_id, cluster in clusters.items():
            made = _Invocation(
                command_id=command_id,
                instance_id=instance_id,
                comment=asked.get("Comment", ""),
                sent=sent,
            )
            self._invocations[command_id, instance_id] = made
            arguments = (head_nodes, cluster, parameters)
            threading.Thread(target=made.run, args=arguments, name="command", daemon=True).start()
        command = {
            "CommandId": command_id,
            "DocumentName": SHELL_SCRIPT,
            "Comment": asked.get("Comment", ""),
            "InstanceIds": instance_ids,
            "Parameters": parameters,
            "RequestedDateTime": sent,
            "Status": "Pending",
            "StatusDetails": "Pending",
            "TargetCount": len(instance_ids),
        }
        return ActionResult({"Command": command})

    def get_command_invocation(self) -> ActionResult:
        """GetCommandInvocation."""
        place = self._get_param("CommandId"), self._get_param("InstanceId")
        found = self._invocations.get(place)
        if found is None:
            _refuse("InvocationDoesNotExist", "")
        if self._get_param("PluginName") not in (None, _PLUGIN):
            _refuse("InvalidPluginName", "")
        return ActionResult(found.described())

    def list_commands(self) -> ActionResult:
        """ListCommands."""
        raise NotImplementedError("lists of commands")

    def _managed_cluster(self, instance_id: str) -> str | None:
        """Return the cluster of a head node that runs and is managed; None for other nodes."""
        ec2: Any = ec2_backends[self.current_account][self.region]
        named = [each for each in ec2.all_running_instances() if each.id == instance_id]
        tags = {tag["key"]: tag["value"] for each in named for tag in each.get_tags()}
        cluster, head_nodes = tags.get(CLUSTER_NAME, ""), _WIRING.head_nodes
        is_head_node = tags.get(NODE_TYPE) == HEAD_NODE
        if head_nodes is None or not is_head_node or not head_nodes.is_managed(cluster):
            return None
        return cluster


def check_parameters(parameters: dict[str, Any]) -> None:
    """Check the parameters of `AWS-RunShellScript`.

    Raises:
        SSMException: InvalidParameters, MaxDocumentSizeExceeded.
    """
    unknown = parameters.keys() - _PARAMETERS
    if unknown:
        said = f"The document does not have the parameters {', '.join(sorted(unknown))}."
        _refuse("InvalidParameters", said)
    if not parameters.get("commands"):
        _refuse("InvalidParameters", "The document requires the parameter commands.")
    if len(json.dumps(parameters)) > _LARGEST_DOCUMENT:
        _refuse("MaxDocumentSizeExceeded", "The size limit of a document is 64 KB.")


def _refuse(code: str, message: str) -> NoReturn:
    raise SSMException(code, message)


def _iso(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _iso_duration(taken: timedelta) -> str:
    """Return a duration such as PT1H0.271S."""
    minutes, seconds = divmod(taken.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{seconds:.3f}S"
    return f"PT{''.join(parts)}"


# State Manager associations of Systems Manager, which moto lacks.
#
# The sandbox stores associations and runs nothing: only head nodes of Slurm clusters have an SSM
# Agent, and the stacks have associations for other nodes.
#
# Sources: https://docs.aws.amazon.com/systems-manager/latest/APIReference/,
# `API_CreateAssociation`, `API_DescribeAssociation`, `API_UpdateAssociation`,
# `API_DeleteAssociation` and `API_ListAssociations`.


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
