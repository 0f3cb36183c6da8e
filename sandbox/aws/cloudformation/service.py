"""The process of ministack: started at the first call that requires it, ended with the sandbox."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

import urllib3

from trainyard.sandbox import MODULES
from trainyard.sandbox.access import HEADER, KEY_VARIABLE, Endpoint
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.parallelcluster.provider.account import DIRECTORY_VARIABLE
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree

_SUPERVISOR = Path(__file__).with_name("supervise.py")
_READY_SECONDS = 60.0
"""Usually 1 s; several times as long on a machine that is busy with a build."""
_STOP_SECONDS = 10.0
_POLL_SECONDS = 0.05
_LOG_LINES = 15
_ATTEMPTS = 3
_PORT_TAKEN = "already in use"
"""ministack's message if another process has taken its port meanwhile."""


def clusters_of(directory: Path) -> Path:
    """Return the directory of the records of ParallelCluster's clusters."""
    return directory / "clusters"


class CloudFormationError(RuntimeError):
    """ministack does not start; the message ends with the relevant log lines."""


class CloudFormation:
    """CloudFormation and Lambda of a sandbox.

    Args:
        directory: Directory for all files of ministack and its functions; existing content is
            removed at a start.
        interpreter: Command of the Python that has ministack and aws-parallelcluster.
        spawn: Starts a process.
        region: Default region of requests.

    Attributes:
        directory: As given.
    """

    def __init__(
        self, directory: Path, interpreter: Sequence[str], spawn: Spawn, *, region: str
    ) -> None:
        self.directory = directory
        self._interpreter = list(interpreter)
        self._spawn = spawn
        self._region = region
        self._lock = threading.Lock()
        self._process: Popen[Any] | None = None
        self._endpoint = ""

    @property
    def is_running(self) -> bool:
        """Whether it was started; otherwise it has no stacks or functions."""
        return self._process is not None and self._process.poll() is None

    def endpoint(self, account: Endpoint) -> str:
        """Return its address; start it if it is not running.

        Args:
            account: The sandbox's AWS endpoint, for calls of its functions; its access key is
                also that of requests to ministack.

        Raises:
            CloudFormationError: It does not start.
        """
        with self._lock:
            if not self.is_running:
                self._start(account)
            return self._endpoint

    def stop(self) -> None:
        """Stop it with all its functions, and delete its stacks; idempotent."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()  # the supervisor kills the group
        try:
            process.wait(_STOP_SECONDS)
        except TimeoutExpired:
            process.kill()  # and ministack ends with its supervisor
            process.wait()

    def _start(self, account: Endpoint) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._start_on(_free_port(), account)
            except CloudFormationError as error:
                self._end()
                if _PORT_TAKEN not in str(error) or attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _start_on(self, port: int, account: Endpoint) -> None:
        remove_tree(self.directory)
        (self.directory / "tmp").mkdir(parents=True, mode=0o700)
        _link_modules(self.directory)
        self._process = self._spawn(
            [
                *(sys.executable, "-I", "-S", str(_SUPERVISOR), str(os.getpid())),
                *(*self._interpreter, "-m", "trainyard.sandbox.aws.cloudformation.engine"),
            ],
            name="cloudformation",
            log_path=self._log,
            env=_environment(self.directory, port, account, self._region),
        )
        self._endpoint = f"http://127.0.0.1:{port}"
        self._wait_until_ready(self._process, account)

    def _wait_until_ready(self, process: Popen[Any], account: Endpoint) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not _answers(self._endpoint, account.access_key):
            if process.poll() is not None:
                raise CloudFormationError(f"CloudFormation did not start:\n{self._tail()}")
            if time.monotonic() > deadline:
                raise CloudFormationError(
                    f"CloudFormation was not ready after {_READY_SECONDS:.0f} s:\n{self._tail()}"
                )
            time.sleep(_POLL_SECONDS)

    @property
    def _log(self) -> Path:
        return self.directory / "ministack.log"

    def _tail(self) -> str:
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        last = [f"  {line}" for line in text.splitlines()[-_LOG_LINES:]]
        return "\n".join([*(last or ["  (it wrote nothing)"]), f"the whole log: {self._log}"])


def _environment(directory: Path, port: int, account: Endpoint, region: str) -> dict[str, str]:
    """Return ministack's settings (its `app.py` and `core/`), and variables for its functions."""
    return {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": ACCOUNT_ID,
        "MINISTACK_REGION": region,
        # Listeners of unused services, on fixed ports.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        # It would remove containers of the user that resemble its own.
        "DOCKER_HOST": f"unix://{directory}/no-container-engine",
        "LAMBDA_EXECUTOR": "local",
        "PERSIST_STATE": "0",
        "STATE_DIR": str(directory / "state"),
        "TMPDIR": str(directory / "tmp"),
        # Functions call the sandbox's account, not ministack's own services.
        "AWS_ENDPOINT_URL": account.url,
        KEY_VARIABLE: account.access_key,
        "HOME": str(directory),  # ParallelCluster writes a log there
        DIRECTORY_VARIABLE: str(clusters_of(directory)),
        "TRAINYARD_PROVIDER_LOG": str(directory / "provider.log"),
        "PYTHONPATH": str(_modules_of(directory)),
    }


def _modules_of(directory: Path) -> Path:
    return directory / "modules"


def _link_modules(directory: Path) -> None:
    """Make a directory with `trainyard` alone, without other packages of its environment."""
    _modules_of(directory).mkdir()
    (_modules_of(directory) / "trainyard").symlink_to(MODULES / "trainyard")


def _answers(endpoint: str, key: str) -> bool:
    try:
        url, headers = f"{endpoint}/_ministack/health", {HEADER: key}
        answer = urllib3.request("GET", url, headers=headers, retries=False, timeout=5)
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
