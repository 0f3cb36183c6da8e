"""The WSGI application: moto's, one admitted request at a time, with the internal endpoints."""

from __future__ import annotations

import functools
import io
import json
import logging
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from trainyard.sandbox import registries
from trainyard.sandbox.access import CONTROL, HEADER, REGISTRIES, AccessKey
from trainyard.sandbox.account import roles
from trainyard.sandbox.account.stacks import accounts
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.cloudformation.forwarding import Forwarder, is_forwarded, list_stacks
from trainyard.sandbox.aws.eks.access import groups_of
from trainyard.sandbox.aws.eks.clusters import CREATOR
from trainyard.sandbox.aws.eks.store import AccessEntry, Cluster, eks_stores
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.rpc_v2_cbor import Handle, is_rpc_v2_cbor, translated
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.aws.unimplemented import (
    FAILURE_CODE,
    Call,
    call_of,
    error_response,
    not_implemented,
    region_of,
    scope_of,
)
from trainyard.sandbox.faults.fault import Request
from trainyard.sandbox.faults.schedule import FAULTS, OBSERVER, FaultScheduleError, read_schedule
from trainyard.sandbox.slurm.head_nodes import recorded_program
from trainyard.sandbox.wsgi import Answer

# Which requests the AWS endpoint admits; checked before anything else reads a request.
#
# The endpoint listens on the loopback interface, which is open to every user of the machine, and to
# every web page in a browser on it. A request is admitted only if
#
# - it has no `Origin`: no client of AWS sends one, and browsers send one with every request that
# may
#   change something (https://fetch.spec.whatwg.org/#origin-header), preflights included;
# - its `Host` is an address of the endpoint, so that a name that a web page has rebound to this
#   machine is refused;
# - it names an access key of the sandbox: in its signature, or in a header if it is for the sandbox
#   itself (see `trainyard.sandbox.access`).


_HEADER_IN_WSGI = f"HTTP_{HEADER.upper().replace('-', '_')}"
_PARTITION = "aws"
_REFUSED = "403 FORBIDDEN"
_EXPLANATION = (
    "This is the AWS endpoint of a trainyard sandbox. It answers whoever has its access key, which "
    "the commands with --sandbox use, and no web page."
)
_UNKNOWN_KEY: Mapping[str, tuple[str, str, str]] = {
    "ec2": (
        "AuthFailure",
        "AWS was not able to validate the provided access credentials.",
        "401 UNAUTHORIZED",
    ),
    "query": (
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
        _REFUSED,
    ),
    "rest-xml": (
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
        _REFUSED,
    ),
}
"""Code, message and status with which AWS refuses an unknown access key, by protocol.

Sources: https://docs.aws.amazon.com/ec2/latest/APIReference/errors-overview.html,
https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html and
https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
"""
_UNKNOWN_KEY_IN_JSON = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
    _REFUSED,
)
"""As above, for all other protocols: `UnrecognizedClient` in
https://docs.aws.amazon.com/eks/latest/APIReference/CommonErrors.html"""


class Admission:
    """Admits the requests of the sandbox's own clients.

    Args:
        own: The access key of these clients.
    """

    def __init__(self, own: AccessKey) -> None:
        self._own = own
        self._hosts: re.Pattern[str] | None = None
        self.calls: dict[str, Counter[str]] = defaultdict(Counter)
        """How often each account has received which calls, such as `ec2:RunInstances`."""

    def listens_on(self, host: str, port: int) -> None:
        """Set the address of the endpoint.

        The provider puts an account in front of the host (see `sandbox_environment`).
        """
        self._hosts = re.compile(rf"(\d{{12}}\.)?{re.escape(host)}:{port}")

    def refusal(self, environ: Mapping[str, Any]) -> Answer | None:
        """Return the response to a request that is not admitted; None if it is."""
        host = environ.get("HTTP_HOST", "")
        if "HTTP_ORIGIN" in environ:
            return _refused(environ, "requests of web pages are refused")
        if self._hosts is None or not self._hosts.fullmatch(host):
            return _refused(environ, f"the host {host!r} is not that of the endpoint")
        if self.account_of(_key_of(environ)) is None:
            call = call_of(environ, b"")
            code, message, status = _UNKNOWN_KEY.get(call.protocol, _UNKNOWN_KEY_IN_JSON)
            return error_response(call, code, f"{message} {_EXPLANATION}", status)
        return None

    def account_of(self, key_id: str) -> str | None:
        """Return the account that an access key belongs to; None for an unknown one."""
        if self._own.is_id(key_id):
            return self._own.account_id
        for account_id in accounts():
            if key_id in iam_backends[account_id][_PARTITION].access_keys:
                return account_id
        return None

    def account_in(self, environ: Mapping[str, Any]) -> str:
        """Return the account of an admitted request."""
        return self.account_of(_key_of(environ)) or self._own.account_id


def _key_of(environ: Mapping[str, Any]) -> str:
    """Return the id of the access key of a request; empty without one."""
    path = environ.get("PATH_INFO", "")
    if path.startswith(CONTROL):
        rest = path.removeprefix(CONTROL)
        if rest.startswith(REGISTRIES):
            return rest.removeprefix(REGISTRIES).partition("/")[0]
        return environ.get(_HEADER_IN_WSGI, "")
    return scope_of(environ)[0]


def _refused(environ: Mapping[str, Any], why: str) -> Answer:
    return error_response(call_of(environ, b""), "AccessDenied", f"{why}. {_EXPLANATION}", _REFUSED)


# Repeated requests with a client token: AWS processes the first and repeats its response.
#
# EC2, EKS, FSx, CloudFormation, EventBridge Scheduler and Prometheus accept a client token; a
# client repeats it if it got no response. Sources:
#     https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
#     (`IdempotentParameterMismatch` where anything else has changed)
#     https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
#     (the parameter `clientRequestToken`)
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
#     (ClientRequestToken; `IncompatibleParameterError`)
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
#     (ClientRequestToken; `TokenAlreadyExistsException`)
#     https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
#     (the parameter `ClientToken`)
#     https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateScraper.html
#     (the parameter `clientToken`)


_TOKENS = ("ClientToken", "ClientRequestToken", "clientRequestToken", "clientToken")
_MAKES = ("Create", "Run", "Allocate", "Import", "Register", "Update")
_MISMATCH = {
    "cloudformation": "TokenAlreadyExistsException",
    "eks": "InvalidParameterException",
    "fsx": "IncompatibleParameterError",
}
_EC2_MISMATCH = "IdempotentParameterMismatch"


class AnsweredTokens:
    """Responses of this account by token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str, str], tuple[bytes, Answer]] = {}

    def clear(self) -> None:
        """Delete all tokens."""
        with self._lock:
            self._answers.clear()

    def answer(self, call: Callable[[], Call], body: bytes, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`, or the earlier result if the token is known.

        Args:
            call: Returns the AWS call; used only if the request has a token.
            body: Body of the request.
            work: Processes the request.
        """
        token = _token(body)
        made = call() if token else None
        if made is None or not made.operation.startswith(_MAKES):
            return work()
        key = (made.service, made.operation, token)
        with self._lock:
            known = self._answers.get(key)
        if known is not None:
            return known[1] if known[0] == body else _mismatch(made)
        answer = work()
        if answer[0].startswith("2"):
            with self._lock:
                self._answers[key] = (body, answer)
        return answer


def _token(body: bytes) -> str:
    if not any(name.encode() in body for name in _TOKENS):
        return ""
    text = body.decode("utf-8", "replace")
    given: dict[str, Any] = {}
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
        except ValueError:
            return ""
    else:
        given = {key: values[0] for key, values in parse_qs(text).items()}
    return next((str(given[name]) for name in _TOKENS if given.get(name)), "")


def _mismatch(call: Call) -> Answer:
    code = _MISMATCH.get(call.service, _EC2_MISMATCH)
    return error_response(
        call, code, "The token has been used before, with other parameters of the request."
    )


_CREATOR_IN_MAP = {"username": "kubernetes-admin", "kubernetes_groups": ["system:masters"]}
"""Identity of the creator without an access entry; aws-auth does not show it.

https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
"""


def identity(cluster_name: str, role_arn: str, session: str) -> dict[str, Any] | None:
    """Return the data for the authentication of a caller; None if the cluster does not exist.

    These are authentication mode, access entry, whether the caller is the creator of a cluster
    without entries, and private DNS name.

    Args:
        cluster_name: Name of the EKS cluster.
        role_arn: ARN of the IAM role, as in an access entry, or of a user.
        session: Session name of the assumed role; for an EC2 instance, its id.
    """
    for region, store in eks_stores[ACCOUNT_ID].items():
        cluster = store.clusters.get(cluster_name)
        if cluster is None:
            continue
        return {
            "authentication_mode": cluster.authentication_mode,
            "access_entry": _described(cluster.entry_of_role(role_arn))
            if cluster.uses_access_entries
            else None,
            "creator": _CREATOR_IN_MAP if _is_creator_in_map(cluster, role_arn) else None,
            "private_dns_name": _private_dns_name(region, session),
        }
    return None


def _described(entry: AccessEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    groups = [*entry.kubernetes_groups, *groups_of(entry.policies)]
    return {"username": entry.username, "kubernetes_groups": groups}


def _is_creator_in_map(cluster: Cluster, arn: str) -> bool:
    return not cluster.uses_access_entries and arn == f"arn:aws:iam::{ACCOUNT_ID}:user/{CREATOR}"


def _private_dns_name(region: str, instance_id: str) -> str | None:
    for instance in ec2_backends[ACCOUNT_ID][region].all_instances():
        if instance.id == instance_id and instance.state == "running":
            return instance.private_dns_name
    return None


# Internal endpoints of the sandbox, for its other processes on this machine.
#
# `GET /_trainyard/identity?cluster=…&arn=…&session=…`: the data with which EKS authenticates a
# role. `GET /_trainyard/caller?access_key=…`: the owner of an access key. `GET /_trainyard/calls`:
# how often each account has received which calls. `GET /_trainyard/health`.
# `GET /_trainyard/clock`: the time of the account; POST with `?advance_seconds=…` advances it.
# `POST /_trainyard/latency?scale=…`: the share of AWS's time that the account takes from now on.
# `/_trainyard/faults`: GET returns the schedule in force, POST sets a schedule in YAML, whose paths
# start in `?directory=…`, or puts it before the one in force with `&add=1`, DELETE ends it. `POST
# /_trainyard/slurm-job?name=…`: counts the start of a job, and returns its recorded program, or
# null. `/_trainyard/registries/KEY/HOST/…`: the emulated registry of a host
# (`trainyard.sandbox.registries`).
#
# All need the sandbox's access key (`trainyard.sandbox.aws.application`).


Query = Mapping[str, str]


def answer(environ: Mapping[str, Any], body: bytes, admission: Admission) -> Answer:
    """Handle one request below `CONTROL`; its arguments are in the query, a schedule in `body`."""
    parsed = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    query = {key: values[0] for key, values in parsed.items()}
    method, name = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(CONTROL)
    if name.startswith(REGISTRIES):
        return registries.answer(environ, name.removeprefix(REGISTRIES).partition("/")[2])
    if (method, name) == ("GET", "caller"):
        return _caller(query, admission)
    if (method, name) == ("GET", "calls"):
        return _json("200 OK", admission.calls)
    endpoint = _ENDPOINTS.get((method, name))
    if endpoint is None:
        return _json("404 NOT FOUND", {"message": f"the sandbox has no {method} {name}"})
    return endpoint(query, body)


def _identity(query: Query, _: bytes) -> Answer:
    missing = [name for name in ("cluster", "arn", "session") if name not in query]
    if missing:
        return _json("400 BAD REQUEST", {"message": f"missing: {', '.join(missing)}"})
    found = identity(query["cluster"], query["arn"], query["session"])
    if found is None:
        message = f"no EKS cluster is named {query['cluster']}"
        return _json("404 NOT FOUND", {"message": message})
    return _json("200 OK", found)


def _caller(query: Query, admission: Admission) -> Answer:
    if "access_key" not in query:
        return _json("400 BAD REQUEST", {"message": "missing: access_key"})
    account_id = admission.account_of(query["access_key"])
    if account_id is None:
        return _json("404 NOT FOUND", {"message": "no account has this access key"})
    return _json("200 OK", {"arn": roles.caller_arn(query["access_key"], account_id)})


def _clock(query: Query, _: bytes) -> Answer:
    CLOCK.advance(timedelta(seconds=float(query.get("advance_seconds", 0))))
    ahead = CLOCK.ahead.total_seconds()
    return _json("200 OK", {"now": CLOCK.now().isoformat(), "ahead_seconds": ahead})


def _latency(query: Query, _: bytes) -> Answer:
    TRANSITIONS.scale = float(query["scale"])
    return _json("200 OK", {"scale": TRANSITIONS.scale})


def _slurm_job(query: Query, _: bytes) -> Answer:
    return _json("200 OK", {"program": recorded_program(FAULTS, query["name"])})


def _faults(_: Query, __: bytes) -> Answer:
    return _json("200 OK", FAULTS.described())


def _use_faults(query: Query, body: bytes) -> Answer:
    directory = query.get("directory")
    try:
        schedule = read_schedule(body.decode(), Path(directory) if directory else None)
    except (FaultScheduleError, UnicodeDecodeError) as error:
        return _json("400 BAD REQUEST", {"message": str(error)})
    if "add" in query:
        FAULTS.add(schedule)
    else:
        FAULTS.use(schedule)
    return _faults(query, body)


def _end_faults(query: Query, body: bytes) -> Answer:
    FAULTS.use([])
    return _faults(query, body)


def _json(status: str, content: Any) -> Answer:
    return status, [("Content-Type", "application/json")], json.dumps(content).encode()


_ENDPOINTS: Mapping[tuple[str, str], Callable[[Query, bytes], Answer]] = {
    ("GET", "health"): lambda _, __: _json("200 OK", {"status": "ready"}),
    ("GET", "identity"): _identity,
    ("GET", "clock"): _clock,
    ("POST", "clock"): _clock,
    ("POST", "latency"): _latency,
    ("GET", "faults"): _faults,
    ("POST", "faults"): _use_faults,
    ("DELETE", "faults"): _end_faults,
    ("POST", "slurm-job"): _slurm_job,
}
"""By method and name."""


# The WSGI application: moto's, one request at a time, with the sandbox's internal endpoints.
#
# moto keeps its state in plain dictionaries and is not thread-safe, and the sandbox's clock works
# on the same state, so a lock is held for every request and every tick of the clock. CloudFormation
# and Lambda are handled separately, without the lock.


LOG = logging.getLogger("trainyard.sandbox.aws")

StartResponse = Callable[..., Any]


class _Moto(DomainDispatcherApplication):
    """moto, which remembers the service of a host.

    moto lists its directory and tries the patterns of all services again for each request: a fifth
    of the processor time of the requests of an `up`.
    """

    def __init__(self) -> None:
        super().__init__(_backend_application)
        self._services = functools.cache(super().get_backend_for_host)

    def get_backend_for_host(self, host: str | None) -> Any:
        return self._services(host)


class Application:
    """Handles AWS calls and the sandbox's internal endpoints.

    Args:
        admission: Decides which requests are handled.
        calls: The calls that are handled, such as `ec2:RunInstances`.

    Attributes:
        admission: As given.
        lock: Held while a request is processed; hold it to access moto's objects from outside.
        forwarder: Handles CloudFormation and Lambda.
        tokens: Responses to requests with a client token.
    """

    def __init__(self, admission: Admission, calls: Collection[str]) -> None:
        self.admission = admission
        self._calls = calls
        self.lock = threading.RLock()
        self._moto = _Moto()
        self.forwarder = Forwarder()
        self.tokens = AnsweredTokens()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request (WSGI)."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        answering = translated if is_rpc_v2_cbor(environ) else _as_it_is
        status, headers, answer = self.admission.refusal(environ) or answering(
            environ, body, self._answer
        )
        has_length = any(name.lower() == "content-length" for name, _ in headers)
        if not has_length and status[:3] not in ("204", "304"):  # which have no content
            # A response of unknown length would be sent in chunks.
            headers = [*headers, ("Content-Length", str(len(answer)))]
        start_response(status, headers)
        return [answer]

    def _answer(self, environ: dict[str, Any], body: bytes) -> Answer:
        if environ.get("PATH_INFO", "").startswith(CONTROL):
            with self.lock:
                return answer(environ, body, self.admission)
        call = call_in(environ, body)
        if call.name not in self._calls:
            return not_implemented(call, "no stack and no command makes this call")
        account_id = self.admission.account_in(environ)
        # moto takes the account of a request from here.
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = account_id
        if call.name == "tag:GetResources":
            described = self.forwarder.described_stacks(region_of(environ))
            with self.lock:
                list_stacks(described)
        is_observed = OBSERVER in environ.get("HTTP_USER_AGENT", "")
        if not is_observed:
            self.admission.calls[account_id][call.name] += 1
        if FAULTS.is_empty or is_observed:
            return self._answered(environ, body)
        return FAULTS.answer(Request(call, environ, body, self._answered))

    def _answered(self, environ: dict[str, Any], body: bytes) -> Answer:
        environ["wsgi.input"] = io.BytesIO(body)
        return self.tokens.answer(
            lambda: call_in(environ, body), body, lambda: self.work(environ, body)
        )

    def work(self, environ: dict[str, Any], body: bytes) -> Answer:
        """Process a request without faults."""
        # Only the first account has CloudFormation of its own.
        if is_forwarded(environ) and environ.get("HTTP_X_MOTO_ACCOUNT_ID") != accounts()[1]:
            return self.forwarder.answer(call_in(environ, body), environ, body)
        with self.lock:
            TRANSITIONS.end_due()
            return self._role_refusal(environ, body) or self._aws(environ, body)

    def _role_refusal(self, environ: dict[str, Any], body: bytes) -> Answer | None:
        if b"Action=AssumeRole&" not in body:
            return None
        account_id = self.admission.account_in(environ)
        return roles.refusal(call_in(environ, body), body, _key_of(environ), account_id)

    def _aws(self, environ: dict[str, Any], body: bytes) -> Answer:
        seen: list[Any] = []

        def remember(status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[..., None]:
            seen[:] = [status, headers]
            return lambda _data: None

        try:
            answer = b"".join(self._moto(environ, remember))
        except NotImplementedError as error:
            return not_implemented(call_in(environ, body), str(error))
        except Exception as error:
            call = call_in(environ, body)
            if isinstance(error, KeyError) and error.args == (region_of(environ),):
                # moto has the backends of a service by region.
                return error_response(call, FAILURE_CODE, _no_region(region_of(environ)))
            LOG.exception("%s broke", call.name)
            return error_response(
                call,
                FAILURE_CODE,
                f"The sandbox broke on {call.name}: {type(error).__name__}: {error}",
            )
        status, headers = seen
        # Only S3 uses HEAD, and its own 404 has no body either.
        is_head = environ.get("REQUEST_METHOD") == "HEAD"
        if not is_head and _nobody_answered(status, headers, answer):
            return not_implemented(call_in(environ, body), "no such path in the emulator")
        return status, headers, answer


def _as_it_is(environ: dict[str, Any], body: bytes, handle: Handle) -> Answer:
    return handle(environ, body)


def _no_region(region: str) -> str:
    return f"The sandbox has no region {region!r}; set aws:region to one that it has: us-west-2"


def _backend_application(service: Any) -> Any:
    if service is None:
        raise NotImplementedError("moto has no such service")
    return create_backend_app(service)


def call_in(environ: dict[str, Any], body: bytes) -> Call:
    """Return the AWS call of a request; `environ` is not changed."""
    return call_of({**environ, "wsgi.input": io.BytesIO(body)}, body)


def _nobody_answered(status: str, headers: list[tuple[str, str]], answer: bytes) -> bool:
    """Return whether a 404 is moto's (or Flask's) response to an unknown path, not a service's."""
    code = status.partition(" ")[0]
    if code == "405":
        return True
    content_type = dict(headers).get("Content-Type", "")
    # A service's own 404 is JSON or XML; Flask's page and moto's empty response are HTML.
    return code == "404" and (
        not answer or (content_type.startswith("text/html") and b"<title>404" in answer)
    )
