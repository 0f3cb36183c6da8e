"""HTTPS hosts of AWS that programs connect to by name, served through a proxy.

pulumi-eks opens a TLS connection to `oidc.eks.<region>.amazonaws.com` for the thumbprint of its
certificate, also in previews, and waits for `/healthz` of a public API server
(`nodejs/eks/cluster/cluster.ts` and `cert-thumprint.ts` of https://github.com/pulumi/pulumi-eks).
No variable changes these addresses, but the plugin uses the proxy in `HTTPS_PROXY`. This proxy
terminates TLS for the configured hosts, with a certificate of an authority that Node.js trusts
through `NODE_EXTRA_CA_CERTS`. It forwards connections to this machine, and rejects all other hosts.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cryptography import x509
from moto.core import base_backend, config
from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random
from moto.moto_server.werkzeug_app import MotoRequestHandler
from moto.s3.models import s3_backends
from typing_extensions import override
from werkzeug.serving import BaseWSGIServer, make_server

from trainyard.sandbox.access import AccessKey, Endpoint
from trainyard.sandbox.account.load import load_account
from trainyard.sandbox.aws import environment
from trainyard.sandbox.aws.application import (
    Admission,
    Application,
)
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.cloudformation.service import CloudFormation
from trainyard.sandbox.aws.eks.addons import AddonInstaller, use_addon_installer
from trainyard.sandbox.aws.eks.control_plane import (
    CheckVersion,
    ControlPlaneStarter,
    use_control_planes,
)
from trainyard.sandbox.aws.install import install
from trainyard.sandbox.aws.ssm import HeadNodes, use_head_nodes
from trainyard.sandbox.aws.timekeeper import Timekeeper
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.aws.unimplemented import served_calls
from trainyard.sandbox.connect_proxy import BUFFER_BYTES, Connection
from trainyard.sandbox.faults.schedule import (
    FAULTS,
    read_schedule,
)
from trainyard.sandbox.kubernetes.credentials import make_server_certificate

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


def issuer_hosts(region: str) -> list[str]:
    """Return the hosts of the OIDC issuers of a region's clusters, in each partition.

    Source: `eksOidcProviderUrl` in `nodejs/eks/cluster/cluster.ts`.
    """
    return [f"oidc.eks.{region}.{suffix}" for suffix in ("amazonaws.com", "amazonaws.com.cn")]


class HttpsEndpoints(socketserver.ThreadingTCPServer):
    """A proxy on the loopback interface that serves the given AWS hosts."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, hosts: Sequence[str], directory: Path) -> None:
        """Serve `hosts`; the certificates are written to `directory`."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = make_server_certificate(directory, "aws", [x509.DNSName(host) for host in hosts])
        self.hosts = frozenset(map(str.lower, hosts))
        self.authority = files.authority
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(files.certificate, files.key)
        super().__init__(("127.0.0.1", 0), _Connection)

    def environment(self) -> dict[str, str]:
        """Return the variables that direct a Node.js plugin to the proxy."""
        address = f"http://127.0.0.1:{self.server_address[1]}"
        return {"HTTPS_PROXY": address, "NODE_EXTRA_CA_CERTS": str(self.authority)}

    @contextlib.contextmanager
    def serving(self) -> Iterator[HttpsEndpoints]:
        """Serve until the end of the block."""
        thread = threading.Thread(target=self.serve_forever, name="https-endpoints", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class _Connection(Connection):
    @property
    def endpoints(self) -> HttpsEndpoints:
        assert isinstance(self.server, HttpsEndpoints)  # noqa: S101 - for the type checker
        return self.server

    @override
    def connect(self, host: str, port: int) -> None:
        if host.lower() in self.endpoints.hosts:
            self.accept()
            self._answer_as_host()
        elif host in LOOPBACK_NAMES:
            self.pass_on(host, port)
        else:
            self.answer("403 The sandbox has no such host")

    def _answer_as_host(self) -> None:
        with self.endpoints.context.wrap_socket(self.connection, server_side=True) as secure:
            if secure.recv(BUFFER_BYTES):
                length = "Content-Length: 2\r\nConnection: close\r\n\r\nok"
                secure.sendall(f"HTTP/1.1 200 OK\r\n{length}".encode())


# Runs the sandbox's AWS endpoint in this process.
#
# with AwsServer(region="us-west-2") as server:
# boto3.client("ec2", endpoint_url=server.endpoint, **server.access.credentials, …)


environment.prepare()  # before anything imports moto


LOOPBACK = "127.0.0.1"

_STOP_SECONDS = 0.05
"""Interval at which the server checks for a stop request; the default is half a second."""
_SEED = 20260101
"""Generated ids are the same in all runs with the same calls in the same order."""


class PortInUseError(RuntimeError):
    """Another process listens on the requested port."""


class _QuietHandler(MotoRequestHandler):
    wbufsize = 64 * 1024
    """A response is sent in one piece, head and body.

    The Go SDK closes the body of its request as soon as it has received the response head. Go may
    still be probing for the end of that body, and a closed body returns an error: Go then closes
    the connection, and the SDK retries the request, although the object has been created. Only a
    response that has arrived completely is read to its end. A response from AWS takes longer than
    that probe.
    `ClientHandler.Handle` and `safeWriteToReadCloser.WriteTo` in
    https://github.com/aws/smithy-go/tree/v1.27.4/transport/http and `transferWriter.writeBody` in
    https://github.com/golang/go/blob/go1.26.0/src/net/http/transfer.go
    """

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's signature
        """Do not log requests; the application logs failures."""

    def connection_dropped(self, error: BaseException, environ: Any = None) -> None:
        """Reset a connection whose response a fault has dropped."""
        self.close_connection = True
        with contextlib.suppress(OSError):  # the client may have closed it
            # With a linger time of zero, the system sends a reset (socket(7), SO_LINGER).
            off = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, off)
            # File objects would keep the socket open, so its descriptor is closed directly.
            socket.close(self.connection.detach())


class AwsServer:
    """The sandbox's AWS endpoint with its account, on the loopback interface.

    Args:
        region: The region that the account fixture fills.
        port: Port to listen on; 0 lets the system choose a free one.
        keep_time: Whether timed events happen automatically; a test that advances the clock
            triggers them itself.
        of_others: Calls that it handles besides those of stacks and commands: a test plays others
            who use the account.

    Attributes:
        endpoint: `http://127.0.0.1:<port>`.
        access: The endpoint for a client that may use it, with an access key made for this server.
        application: The WSGI application; its lock guards moto's objects.

    Raises:
        PortInUseError: The port is in use.
    """

    def __init__(
        self,
        *,
        region: str = "us-west-2",
        port: int = 0,
        keep_time: bool = True,
        of_others: Iterable[str] = (),
    ) -> None:
        install()
        config.default_user_config["lambda"] = {"use_docker": False}
        self._region = region
        self._keep_time = keep_time
        key = AccessKey.new(environment.ACCOUNT_ID)
        self.application = Application(Admission(key), served_calls().union(of_others))
        self._server = _listen(port, self.application)
        self.application.admission.listens_on(LOOPBACK, self._server.server_port)
        self.endpoint = f"http://{LOOPBACK}:{self._server.server_port}"
        self.access = Endpoint(self.endpoint, key.key_id)
        self.application.forwarder.access = self.access
        self._timekeeper = Timekeeper(self.application.lock, region)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_STOP_SECONDS,), name="aws", daemon=True
        )
        self.reset()

    def reset(self) -> None:
        """Delete all state and load the account again; control planes are detached."""
        self._end_cloudformation()
        with self.application.lock:
            _forget_everything()
            mock_random.seed(_SEED)
            CLOCK.reset()
            TRANSITIONS.reset()
            FAULTS.use([])
            self.application.tokens.clear()
            use_control_planes(None, self.application.lock)
            use_addon_installer(None)
            use_head_nodes(None)
            load_account(self._region)

    def use_faults(self, schedule: str) -> None:
        """Set the schedule of faults, in YAML; an empty one ends it.

        Raises:
            FaultScheduleError: it is not a valid schedule.
        """
        FAULTS.use(read_schedule(schedule))

    def use_control_planes(
        self, control_planes: ControlPlaneStarter, check_version: CheckVersion | None = None
    ) -> None:
        """Start a control plane for every new EKS cluster; otherwise clusters are ACTIVE at once.

        Args:
            control_planes: Starts and stops them.
            check_version: Raises ValueError for an unsupported version.
        """
        use_control_planes(control_planes, self.application.lock, check_version)

    def use_addon_installer(self, installer: AddonInstaller) -> None:
        """Let add-ons install objects; without this, they are ACTIVE at once."""
        use_addon_installer(installer)

    def use_head_nodes(self, head_nodes: HeadNodes) -> None:
        """Let Systems Manager run commands; without this, no instance has an SSM Agent."""
        use_head_nodes(head_nodes)

    def running_instance_ids(self) -> set[str]:
        """Return the ids of all running instances, without the cost of a request."""
        with self.application.lock:
            running = ec2_backends[environment.ACCOUNT_ID][self._region].all_running_instances()
            return {instance.id for instance in running}

    def look_for_cloudformation(self, look: Callable[[], CloudFormation | None]) -> None:
        """Let `look` create the CloudFormation handler at the first call for which it can."""
        self.application.forwarder.look_for = look

    def use_cloudformation(self, cloudformation: CloudFormation) -> None:
        """Handle CloudFormation and Lambda; without this, their calls are rejected."""
        self.application.forwarder.cloudformation = cloudformation

    def _end_cloudformation(self) -> None:
        cloudformation = self.application.forwarder.cloudformation
        if cloudformation is not None:
            cloudformation.stop()

    def start(self) -> None:
        """Start serving."""
        self._thread.start()
        if self._keep_time:
            self._timekeeper.start()

    def stop(self) -> None:
        """Stop serving and close the port; idempotent."""
        self._timekeeper.stop()
        self._end_cloudformation()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()


def _forget_everything() -> None:
    """Drop every backend; moto's own reset would first create each one again."""
    registry: Any = base_backend.BackendDict
    with base_backend.backend_lock:
        for backends in registry._instances:  # noqa: SLF001 - as moto's reset does
            backends.clear()
        registry._instances.clear()  # noqa: SLF001
        # Bucket names are global, so moto stores them outside accounts.
        s3_backends.bucket_accounts.clear()


def _listen(port: int, application: Application) -> BaseWSGIServer:
    # werkzeug exits the process if the port is in use, so check first.
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise PortInUseError(
                f"Port {port} on {LOOPBACK} is in use ({error.strerror}); the sandbox's AWS "
                "endpoint cannot listen there. Choose another port, or none: then a free one is "
                "taken."
            ) from error
    return make_server(LOOPBACK, port, application, threaded=True, request_handler=_QuietHandler)
