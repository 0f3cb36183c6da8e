"""The logs of containers, and the kubelets' servers from which API servers read them."""

from __future__ import annotations

import shutil
import socketserver
import ssl
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml
from typing_extensions import override

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.connect_proxy import Connection
from trainyard.sandbox.kubernetes.credentials import Credentials

_SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log."""

    time_ns: int
    """Time since 1970; no two lines of a log have the same."""
    text: str

    @property
    def timestamp(self) -> str:
        """The time in the kubelet's form, which has a fixed width.

        https://github.com/kubernetes/cri-client/blob/v0.36.4/pkg/logs/logs.go, `RFC3339NanoFixed`
        """
        seconds, rest = divmod(self.time_ns, _SECOND_NS)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


@dataclass(slots=True)
class _Log:
    lines: list[Line] = field(default_factory=list[Line])
    has_ended: bool = False


class ContainerLogs:
    """The logs of the containers that the sandbox runs, by namespace and pod; thread-safe."""

    def __init__(self) -> None:
        """Start without logs."""
        self._changed = threading.Condition()
        self._logs: dict[tuple[str, str], _Log] = {}

    def start(self, namespace: str, pod: str) -> None:
        """Begin the log of a pod's container."""
        with self._changed:
            self._logs[namespace, pod] = _Log()

    def write(self, namespace: str, pod: str, lines: Iterable[str]) -> None:
        """Append lines, now; ignores a pod whose log was removed."""
        now = nanoseconds(CLOCK.now())
        with self._changed:
            log = self._logs.get((namespace, pod))
            if log is None:
                return
            first = max(now, log.lines[-1].time_ns + 1) if log.lines else now
            log.lines += [Line(first + number, text) for number, text in enumerate(lines)]
            self._changed.notify_all()

    def end(self, namespace: str, pod: str) -> None:
        """Record that a container has ended: its log gets no more lines."""
        with self._changed:
            log = self._logs.get((namespace, pod))
            if log is not None:
                log.has_ended = True
                self._changed.notify_all()

    def remove(self, namespace: str, pod: str) -> None:
        """Remove the log of a deleted pod."""
        self.end(namespace, pod)
        with self._changed:
            self._logs.pop((namespace, pod), None)

    def close(self) -> None:
        """End all logs."""
        for namespace, pod in list(self._logs):
            self.end(namespace, pod)

    def read(self, namespace: str, pod: str) -> list[Line]:
        """Return the lines of a log; a pod without one has printed nothing."""
        with self._changed:
            log = self._logs.get((namespace, pod))
            return list(log.lines) if log else []

    def follow(self, namespace: str, pod: str, after_ns: int) -> Iterator[Line]:
        """Yield the lines after a time as they are written, until the container has ended."""
        with self._changed:
            log = self._logs.get((namespace, pod))
        while log is not None:
            with self._changed:
                new = [line for line in log.lines if line.time_ns > after_ns]
                if not new and log.has_ended:
                    return
                if not new:
                    self._changed.wait()
            for line in new:
                after_ns = line.time_ns
                yield line


def nanoseconds(moment: datetime) -> int:
    """Return a time in nanoseconds since 1970."""
    return round(moment.timestamp() * 10**6) * 1000


# The kubelets' servers of a cluster, from which its API server reads the logs of containers.
#
# The addresses of nodes and Services exist in the emulated VPC only. The API server therefore
# connects to them through a proxy, as it does where it is in another network than the nodes:
# `HTTPConnect` over a Unix domain socket. The proxy is the server of every node, and knows the
# Services whose pods are processes of this machine.
#
# Source:
#     https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/
#     https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/server/server.go,
#         `getContainerLogs`


_PORT = 10250
"""https://kubernetes.io/docs/reference/networking/ports-and-protocols/"""
_ENDPOINT = "containerLogs"


class KubeletServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers the API server of a cluster in the name of its nodes."""

    daemon_threads = True
    block_on_close = False  # a connection that follows a log lasts as long as its container

    def __init__(
        self,
        logs: ContainerLogs,
        credentials: Credentials,
        service_ports: Mapping[tuple[str, int], int],
    ) -> None:
        """Serve `logs`, and lead to ports of this machine, by cluster IP and port of a Service.

        The API server does not verify the certificate of nodes.
        """
        self.logs = logs
        self.service_ports = service_ports
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(credentials.serving_certificate, credentials.serving_key)
        # Not in the directory of the sandbox, because the path of a socket has 107 bytes at most.
        self._directory = Path(tempfile.mkdtemp(prefix="trainyard-"))
        self._socket = self._directory / "kubelets"
        super().__init__(str(self._socket), _Connection)
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.05,), name="kubelet-server", daemon=True
        )
        self._thread.start()

    def egress_selection(self) -> str:
        """Return the API server's configuration of connections to nodes and Services."""
        transport = {"uds": {"udsName": str(self._socket)}}
        connection = {"proxyProtocol": "HTTPConnect", "transport": transport}
        return yaml.safe_dump(
            {
                "apiVersion": "apiserver.k8s.io/v1beta1",
                "kind": "EgressSelectorConfiguration",
                "egressSelections": [{"name": "cluster", "connection": connection}],
            }
        )

    def close(self) -> None:
        """Stop serving, and remove the socket."""
        self.logs.close()
        self.shutdown()
        self.server_close()
        self._thread.join()
        shutil.rmtree(self._directory, ignore_errors=True)


class _Connection(Connection):
    """A connection to a node or a Service."""

    timeout = None  # the follower of a log waits for its next line

    @override
    def connect(self, host: str, port: int) -> None:
        assert isinstance(self.server, KubeletServer)  # noqa: S101 - for the type checker
        service = self.server.service_ports.get((host, port))
        if service is not None:
            self.pass_on("127.0.0.1", service)
        elif port == _PORT:
            self.accept()
            with self.server.context.wrap_socket(self.connection, server_side=True) as secure:
                _Request(secure, self.client_address, self.server)
        else:
            # Other pods execute nothing, and have no server.
            self.answer("502 Bad Gateway")


class _Request(BaseHTTPRequestHandler):
    """A request to a kubelet."""

    @property
    def logs(self) -> ContainerLogs:
        assert isinstance(self.server, KubeletServer)  # noqa: S101 - for the type checker
        return self.server.logs

    def do_GET(self) -> None:
        """Answer with the log of a container."""
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        match parts.path.strip("/").split("/"):
            case [endpoint, namespace, pod, container] if endpoint == _ENDPOINT:
                if query.get("previous") == "true":
                    said = f'previous terminated container "{container}" in pod "{pod}" not found'
                    self._answer(HTTPStatus.BAD_REQUEST, said)
                else:
                    self._send_log(namespace, pod, query)
            case _:
                said = f"the sandbox's nodes execute nothing, and do not serve {parts.path}"
                self._answer(HTTPStatus.NOT_FOUND, said)

    def do_POST(self) -> None:
        """Refuse `kubectl exec`, `attach` and `port-forward`."""
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Write nothing for each request."""

    def _answer(self, status: HTTPStatus, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())

    def _send_log(self, namespace: str, pod: str, query: Mapping[str, str]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        rest = int(query["limitBytes"]) if "limitBytes" in query else None
        for line in self._lines(namespace, pod, query):
            text = f"{line.timestamp} {line.text}" if "timestamps" in query else line.text
            content = f"{text}\n".encode()[:rest]
            self.wfile.write(content)
            self.wfile.flush()
            if rest is not None:
                rest -= len(content)
                if rest == 0:
                    return

    def _lines(self, namespace: str, pod: str, query: Mapping[str, str]) -> Iterator[Line]:
        logs, since = self.logs, _since_ns(query)
        every = logs.read(namespace, pod)
        lines = [line for line in every if line.time_ns >= since]
        yield from lines[max(0, len(lines) - int(query.get("tailLines", len(lines)))) :]
        if "follow" in query:
            yield from logs.follow(namespace, pod, every[-1].time_ns if every else 0)


def _since_ns(query: Mapping[str, str]) -> int:
    """Return the time of the oldest wanted line, in nanoseconds since 1970."""
    if "sinceSeconds" in query:
        since = CLOCK.now() - timedelta(seconds=int(query["sinceSeconds"]))
    elif "sinceTime" in query:
        since = datetime.fromisoformat(query["sinceTime"])
    else:
        return 0
    return nanoseconds(since)
