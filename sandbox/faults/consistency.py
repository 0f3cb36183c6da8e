"""The kind of fault in which a new object is not found for a while.

EC2 and IAM document this behavior:
https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency

The response is that for an object that does not exist: the request is changed to another name of
the same length, and the name in the response is changed back, so that code and message are the
service's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from trainyard.sandbox.faults.kind import Kind, Request, Schedule
from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.aws.unimplemented import Call
    from trainyard.sandbox.faults.fault import Fault

_READS = ("Describe", "Get", "List")
_PATHS = ("PATH_INFO", "QUERY_STRING", "RAW_URI", "REQUEST_URI")

_IN_REQUEST = {
    ("autoscaling", "CreateAutoScalingGroup"): "AutoScalingGroupName",
    ("batch", "CreateComputeEnvironment"): "computeEnvironmentName",
    ("batch", "CreateJobQueue"): "jobQueueName",
    ("batch", "RegisterJobDefinition"): "jobDefinitionName",
    ("cloudformation", "CreateStack"): "StackName",
    ("cloudwatch", "PutDashboard"): "DashboardName",
    ("cloudwatch", "PutMetricAlarm"): "AlarmName",
    ("ec2", "CreateKeyPair"): "KeyName",
    ("ec2", "CreatePlacementGroup"): "GroupName",
    ("ec2", "ImportKeyPair"): "KeyName",
    ("ecr", "CreateRepository"): "repositoryName",
    ("eks", "CreateAddon"): "addonName",
    ("eks", "CreateCluster"): "name",
    ("eks", "CreateNodegroup"): "nodegroupName",
    ("events", "PutRule"): "Name",
    ("iam", "CreateInstanceProfile"): "InstanceProfileName",
    ("iam", "CreatePolicy"): "PolicyName",
    ("iam", "CreateRole"): "RoleName",
    ("logs", "CreateLogGroup"): "logGroupName",
    ("resource-groups", "CreateGroup"): "Name",
    ("sns", "CreateTopic"): "Name",
    ("ssm", "PutParameter"): "Name",
}
"""Where the request of a call has the name of the object that it creates."""
_IN_ANSWER = {
    ("aps", "CreateScraper"): "scraperId",
    ("ec2", "AllocateAddress"): "allocationId",
    ("ec2", "CreateCapacityReservation"): "capacityReservationId",
    ("ec2", "CreateInternetGateway"): "internetGatewayId",
    ("ec2", "CreateLaunchTemplate"): "launchTemplateId",
    ("ec2", "CreateNatGateway"): "natGatewayId",
    ("ec2", "CreateRouteTable"): "routeTableId",
    ("ec2", "CreateSecurityGroup"): "groupId",
    ("ec2", "CreateSubnet"): "subnetId",
    ("ec2", "CreateVpc"): "vpcId",
    ("ec2", "CreateVpcEndpoint"): "vpcEndpointId",
    ("ec2", "RunInstances"): "instanceId",
    ("eks", "CreatePodIdentityAssociation"): "associationId",
    ("fsx", "CreateFileSystem"): "FileSystemId",
    ("fsx", "CreateVolume"): "VolumeId",
    ("sns", "Subscribe"): "SubscriptionArn",
    ("ssm", "CreateAssociation"): "AssociationId",
}
"""Where the response of a call has the id of the object that it created."""


class NotFoundYet(Kind):
    """A created object that reads do not find at first."""

    name = "not-found-yet"
    summary = "what this call makes is not found by the next `for_calls` reads of it"
    keys = frozenset({"for_calls"})
    required = keys

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether the call creates an object with a name or an id."""
        return (service, operation) in _IN_REQUEST or (service, operation) in _IN_ANSWER

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Process the request; hide the created object."""
        answer = request.answered()
        identifier = _identifier(request, answer)
        if identifier and answer[0].startswith("2"):
            faults.hide(Hidden(request.call.service, identifier, fault.for_calls or 1))
        return answer


@dataclass(slots=True)
class Hidden:
    """An object that is not found yet."""

    service: str
    identifier: str
    for_calls: int
    """Number of reads that will not find it."""

    def is_read_by(self, call: Call, environ: dict[str, Any], body: bytes) -> bool:
        """Return whether a request reads this object."""
        if call.service != self.service or not call.operation.startswith(_READS):
            return False
        texts = [body, *(str(environ.get(name, "")).encode() for name in _PATHS)]
        return any(self._pattern.search(text) for text in texts)

    def not_found(self, request: Request) -> Answer:
        """Respond to a read as if the object did not exist."""
        other = _other(self.identifier)
        environ = dict(request.environ)
        for name in _PATHS:
            if name in environ:
                environ[name] = self._replaced(str(environ[name]).encode(), other).decode()
        status, headers, content = request.work(environ, self._replaced(request.body, other))
        return status, headers, content.replace(other.encode(), self.identifier.encode())

    @property
    def _pattern(self) -> re.Pattern[bytes]:
        names = {self.identifier, quote(self.identifier, safe="")}
        either = b"|".join(re.escape(name.encode()) for name in sorted(names))
        return re.compile(rb"(?<![\w-])(?:" + either + rb")(?![\w-])")

    def _replaced(self, text: bytes, other: str) -> bytes:
        return self._pattern.sub(quote(other, safe="").encode(), text)


def _other(identifier: str) -> str:
    """Return an unused name with the same form and length."""
    prefix, dash, digits = identifier.rpartition("-")
    if dash and re.fullmatch(r"[0-9a-f]{8,}", digits):
        return prefix + dash + "f" * len(digits)
    return "z" * len(identifier)


def _identifier(request: Request, answer: Answer) -> str:
    key = (request.call.service, request.call.operation)
    if key in _IN_REQUEST:
        return _given(_IN_REQUEST[key], request.body)
    name = _IN_ANSWER[key]
    text = answer[2].decode("utf-8", "replace")
    found = re.search(rf'<{name}>([^<]+)</{name}>|"{name}"\s*:\s*"([^"]+)"', text)
    return (found[1] or found[2]) if found else ""


def _given(name: str, body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        return str(json.loads(text).get(name, ""))
    return parse_qs(text).get(name, [""])[0]
