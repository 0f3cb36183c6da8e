"""Forward calls of CloudFormation and Lambda to ministack, without the account's lock.

While CloudFormation waits for a function, the function calls the account: a lock during such a call
would cause a deadlock.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree as ET

import urllib3
from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.resource_tagging import TaggableResourcesMixin, TaggedResource

from trainyard.sandbox.access import HEADER, Endpoint
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.cloudformation.service import CloudFormation, CloudFormationError
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.aws.unimplemented import CODE, FAILURE_CODE, Call, error_response, scope_of
from trainyard.sandbox.latency.model import Operation
from trainyard.sandbox.wsgi import Answer

LOG = logging.getLogger("sandbox.cloudformation")

_SERVICES = frozenset({"cloudformation", "lambda"})
_HOP_BY_HOP = frozenset(
    {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"}
)
"""Hop-by-hop headers (RFC 9110, section 7.6.1), and headers that each server sets itself."""
_CONNECTIONS = 16
"""Number of connections that are kept open; concurrent calls may open more."""
_TYPE = "aws:cloudformation/stack:Stack"
_DONE = re.compile(rb"(<StackStatus>(?:CREATE|UPDATE|DELETE))_COMPLETE(</StackStatus>)")
_NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"
_NO_ENVIRONMENT = (
    "CloudFormation and Lambda are answered in ParallelCluster's Python environment, which this "
    "sandbox does not have yet. Every command of a ParallelCluster stack gets it: ./trainyard up "
    "<stack> --sandbox"
)


def is_forwarded(environ: Mapping[str, Any]) -> bool:
    """Return whether a request is for CloudFormation or Lambda, according to its signature."""
    parts = scope_of(environ)
    return len(parts) >= 5 and parts[3] in _SERVICES


class StackTags(BaseBackend, TaggableResourcesMixin):
    """The stacks of an account and region in the list of tagged objects."""

    SERVICE_NAMESPACE = "cloudformation"

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.stacks: list[TaggedResource] = []

    def iter_tagged_resources(self) -> Iterator[TaggedResource]:
        """Yield what `tag:GetResources` lists."""
        return iter(self.stacks)


_stack_tags: BackendDict[StackTags] = BackendDict(StackTags, "cloudformation")


class Forwarder:
    """Handles forwarded calls.

    Attributes:
        cloudformation: The handler; None if the sandbox has no environment for it yet.
        look_for: Creates the handler if there is an environment.
        access: The account's endpoint, for the handler and its functions.
    """

    access: Endpoint

    def __init__(self) -> None:
        self.cloudformation: CloudFormation | None = None
        self.look_for: Callable[[], CloudFormation | None] = lambda: None
        self._looking = threading.Lock()
        self._due: dict[str, datetime] = {}
        self._pool = urllib3.PoolManager(
            maxsize=_CONNECTIONS, retries=False, timeout=urllib3.Timeout(connect=10)
        )

    def answer(self, call: Call, environ: Mapping[str, Any], body: bytes) -> Answer:
        """Handle a request; start CloudFormation if it is not running."""
        running = self.cloudformation is not None and self.cloudformation.is_running
        if not running and call.operation in _EMPTY:
            return _without_stacks(call, body)
        cloudformation = self._found()
        if cloudformation is None:
            return error_response(call, CODE, _NO_ENVIRONMENT)
        try:
            endpoint = cloudformation.endpoint(self.access)
            return self._paced(call, body, self._forward(endpoint, environ, body))
        except (CloudFormationError, urllib3.exceptions.HTTPError) as error:
            LOG.exception("%s was not answered", call.name)
            return error_response(call, FAILURE_CODE, f"{call.name} was not answered: {error}")

    def described_stacks(self, region: str) -> bytes:
        """Return the answer to DescribeStacks; empty if there is no stack."""
        if self.cloudformation is None or not self.cloudformation.is_running:
            return b""
        key = self.access.access_key
        scope = f"Credential={key}/20000101/{region}/cloudformation/aws4_request"
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/",
            "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "HTTP_AUTHORIZATION": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0",
        }
        body = b"Action=DescribeStacks&Version=2010-05-15"
        try:
            return self._forward(self.cloudformation.endpoint(self.access), environ, body)[2]
        except (CloudFormationError, urllib3.exceptions.HTTPError):
            LOG.exception("the stacks for the list of tags were not read")
            return b""

    def _found(self) -> CloudFormation | None:
        with self._looking:
            if self.cloudformation is None:
                self.cloudformation = self.look_for()
            return self.cloudformation

    def _paced(self, call: Call, body: bytes, answer: Answer) -> Answer:
        """Make an operation on a stack take as long as in AWS; its status is in progress meanwhile.

        The duration of CloudFormation itself counts towards that time; a failure is reported at
        once.
        """
        stack = _stack_name(body)
        if call.operation in _OPERATIONS and answer[0].startswith("2"):
            self._due[stack] = TRANSITIONS.due(_TYPE, _OPERATIONS[call.operation])
        if call.operation != "DescribeStacks" or CLOCK.now() >= self._due.get(stack, CLOCK.now()):
            return answer
        status, headers, content = answer
        return status, headers, _DONE.sub(rb"\1_IN_PROGRESS\2", content)

    def _forward(self, endpoint: str, environ: Mapping[str, Any], body: bytes) -> Answer:
        path = environ.get("RAW_URI") or environ.get("REQUEST_URI") or environ["PATH_INFO"]
        response = self._pool.request(
            environ["REQUEST_METHOD"],
            f"{endpoint}{path}",
            body=body,
            headers={**_headers(environ), HEADER: self.access.access_key},
            decode_content=False,
            redirect=False,
        )
        kept = [(k, v) for k, v in response.headers.items() if k.lower() not in _HOP_BY_HOP]
        return f"{response.status} {response.reason or ''}".strip(), kept, response.data


_OPERATIONS: Mapping[str, Operation] = {
    "CreateStack": "create",
    "UpdateStack": "update",
    "DeleteStack": "delete",
}
_EMPTY = {"ListStacks": "StackSummaries", "DescribeStacks": "Stacks"}
"""List calls with the key of their list, which need no running process to return nothing."""


def _stack_name(body: bytes) -> str:
    """Return the name of the stack in a request, also if it has the stack's id."""
    name = parse_qs(body.decode()).get("StackName", [""])[0]
    return name.split("/")[1] if name.startswith("arn:") else name


def _without_stacks(call: Call, body: bytes) -> Answer:
    """Respond for a CloudFormation that is not running and therefore has no stacks."""
    name = parse_qs(body.decode()).get("StackName", [""])[0]
    if name:
        return error_response(call, "ValidationError", f"Stack with id {name} does not exist")
    return "200 OK", [("Content-Type", "text/xml")], _empty(call.operation)


def _empty(operation: str) -> bytes:
    listed = f"<{operation}Result><{_EMPTY[operation]}/></{operation}Result>"
    metadata = "<ResponseMetadata><RequestId>sandbox</RequestId></ResponseMetadata>"
    response = f'<{operation}Response xmlns="{_NAMESPACE}">{listed}{metadata}</{operation}Response>'
    return response.encode()


def list_stacks(described: bytes) -> None:
    """Put the stacks of an answer to DescribeStacks into the list of tagged objects.

    The account's lock is held.
    """
    for regions in _stack_tags.values():
        for backend in regions.values():
            backend.stacks = []
    if not described:
        return
    names = {"a": _NAMESPACE}
    for stack in ET.fromstring(described).iterfind(".//a:Stacks/a:member", names):  # noqa: S314
        arn = stack.findtext("a:StackId", "", names)
        tags = {
            tag.findtext("a:Key", "", names): tag.findtext("a:Value", "", names)
            for tag in stack.iterfind("a:Tags/a:member", names)
        }
        _, _, _, region, account, *_ = arn.split(":")
        listed = TaggedResource(arn=arn, tags=tags, resource_type="cloudformation:stack")
        _stack_tags[account][region].stacks.append(listed)


def _headers(environ: Mapping[str, Any]) -> dict[str, str]:
    sent = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        sent["content-type"] = environ["CONTENT_TYPE"]
    return {name: value for name, value in sent.items() if name not in _HOP_BY_HOP}
