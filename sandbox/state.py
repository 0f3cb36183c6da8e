"""The directory of a sandbox and its daemon: start, stop, status.

A sandbox consists of one directory. The account exists in the daemon's memory and ends with the
daemon; the Pulumi state that described it is then set aside.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from trainyard.sandbox import MODULES
from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.file_lock import LockTakenError, locked
from trainyard.sandbox.plain_environment import plain_environment
from trainyard.sandbox.private_files import PRIVATE_UMASK, private, write_private
from trainyard.sandbox.process_identity import ProcessIdentity, read_identity
from trainyard.sandbox.processes import sweep
from trainyard.sandbox.removal import remove_tree
from trainyard.sandbox.slurm.cluster import remove_slurm

PARALLELCLUSTER_PYTHON, SLURM_PROGRAMS = "parallelcluster-python", "slurm"
"""What some stacks need: Python with aws-parallelcluster and ministack; the directory of Slurm."""

_START_SECONDS = 300.0
"""An idle machine takes three seconds, and a busy one can take more than a minute. A daemon that
fails ends, which is noticed at once."""
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.05
_TAIL_LINES = 15


class SandboxError(RuntimeError):
    """The sandbox cannot complete a request; the message says why and what helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """A running sandbox."""

    pid: int
    process_start_time: str
    aws_endpoint: str
    account_id: str
    region: str
    access_key: str = field(default="", repr=False)
    """Id of the access key of its clients: a secret (`trainyard.sandbox.access`). Empty for a
    sandbox of an earlier version, which had none."""
    https_environment: dict[str, str] = field(default_factory=dict[str, str])
    """Variables that direct plugins to the daemon for HTTPS hosts of AWS."""

    @property
    def endpoint(self) -> Endpoint:
        """The AWS endpoint for a client that may use it."""
        return Endpoint(self.aws_endpoint, self.access_key)

    @property
    def process(self) -> ProcessIdentity:
        """The daemon."""
        return ProcessIdentity(self.pid, self.process_start_time)


@dataclass(frozen=True, slots=True)
class SandboxDirectory:
    """The paths of a sandbox, and its daemon."""

    path: Path

    @property
    def daemon_file(self) -> Path:
        """File that the daemon writes when it is ready."""
        return self.path / "daemon.json"

    @property
    def lock_file(self) -> Path:
        """Lock that the daemon holds while it runs, with its process identity."""
        return self.path / "daemon.lock"

    @property
    def start_lock_file(self) -> Path:
        """Lock that a process holds while it starts or stops the daemon."""
        return self.path / "start.lock"

    @property
    def programs_file(self) -> Path:
        """The commands of the programs for the daemon."""
        return self.path / "programs.json"

    @property
    def logs(self) -> Path:
        """The daemon's logs: `daemon.log`, `output.log`, `unimplemented.log`."""
        return self.path / "logs"

    @property
    def processes(self) -> Path:
        """Directory with an identity file for each child process of the daemon."""
        return self.path / "processes"

    @property
    def bin(self) -> Path:
        """Programs on the PATH of the sandbox's engine: `aws`, `kubectl`."""
        return self.path / "bin"

    @property
    def clusters(self) -> Path:
        """Directory of the control planes, with a directory for each."""
        return self.path / "clusters"

    @property
    def cloudformation(self) -> Path:
        """Working files of CloudFormation and its functions."""
        return self.path / "cloudformation"

    @property
    def slurm(self) -> Path:
        """Directory of the Slurm clusters, with a directory for each."""
        return self.path / "slurm"

    @property
    def pulumi_state(self) -> Path:
        """The backend of the sandbox's Pulumi project, whose state describes this account."""
        return self.path / "pulumi" / "state"

    def read_status(self) -> SandboxStatus | None:
        """Return the status of the daemon; None if it is not running or not ready."""
        try:
            record = json.loads(self.daemon_file.read_text(encoding="utf-8"))
            status = SandboxStatus(**record)
        except (FileNotFoundError, ValueError, TypeError):
            return None
        return status if status.process.is_alive else None

    def write_status(self, status: SandboxStatus) -> None:
        """Write the status when the daemon is ready; called by the daemon."""
        partial = self.daemon_file.with_suffix(".partial")
        write_private(partial, json.dumps(asdict(status)).encode())
        partial.replace(self.daemon_file)

    def start(
        self,
        programs: Mapping[str, Sequence[str]] | None,
        *,
        region: str = "us-west-2",
        port: int = 0,
    ) -> SandboxStatus:
        """Start the daemon, or find the running one; return when it responds.

        Args:
            programs: Commands of the Kubernetes programs by name, and of the Python with
                aws-parallelcluster and ministack as `parallelcluster-python`. Without the former,
                clusters have no control plane; without the latter, CloudFormation rejects calls.
            region: Region that the account fixture fills.
            port: Port of the AWS endpoint; 0 selects a free one.

        Raises:
            SandboxError: It does not become ready; the message has the end of its log.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.chmod(0o700)  # an earlier version made it for everybody
        with self._alone():
            running = self.read_status() or self._starting()
            if running is not None:
                return running
            self._clear_leftovers()
            self.logs.mkdir(exist_ok=True, mode=0o700)
            self._write_programs(programs or {})
            return self._wait_until_ready(self._launch(region, port))

    def program(self, name: str) -> list[str] | None:
        """Return the command of a program for the daemon, or None."""
        try:
            return json.loads(self.programs_file.read_text(encoding="utf-8")).get(name)
        except FileNotFoundError:
            return None

    def give(self, name: str, command: Sequence[str]) -> None:
        """Add a program for the daemon, which reads the list on demand, also while it runs."""
        with self._alone():
            known = json.loads(self.programs_file.read_text(encoding="utf-8"))
            self._write_programs({**known, name: command})

    def _write_programs(self, programs: Mapping[str, Sequence[str]]) -> None:
        partial = self.programs_file.with_suffix(".partial")
        content = json.dumps({name: list(argv) for name, argv in programs.items()})
        write_private(partial, content.encode())
        partial.replace(self.programs_file)

    def stop(self) -> bool:
        """Stop the daemon and its processes; return whether it was running."""
        if not self.path.is_dir():
            return False
        with self._alone():
            process = self._process()
            if process is not None:
                self._end(process)
            self._clear_leftovers()
        return process is not None

    def reset(self) -> bool:
        """Stop the daemon and clear the directory; return whether it was running."""
        was_running = self.stop()
        if self.path.is_dir():
            for entry in self.path.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    remove_tree(entry)
                else:
                    entry.unlink()
        return was_running

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with locked(self.start_lock_file, timeout_seconds=_START_SECONDS + _STOP_SECONDS):
                yield
        except LockTakenError as error:
            raise SandboxError(
                f"another process has been starting or stopping the sandbox in {self.path} for "
                f"{_START_SECONDS + _STOP_SECONDS:.0f} seconds; wait for it, or end it and try "
                "again"
            ) from error

    def _process(self) -> ProcessIdentity | None:
        """Return the daemon process, even if not ready; None if it is not running."""
        process = read_identity(self.lock_file)
        return process if process is not None and process.is_alive else None

    def _starting(self) -> SandboxStatus | None:
        """Wait for a daemon whose starter was interrupted (Ctrl-C)."""
        deadline = time.monotonic() + _START_SECONDS
        while self._process() is not None and time.monotonic() < deadline:
            status = self.read_status()
            if status is not None:
                return status
            time.sleep(_POLL_SECONDS)
        return None

    def _launch(self, region: str, port: int) -> subprocess.Popen[bytes]:
        with open(self._output, "wb", opener=private) as output:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "trainyard.sandbox.daemon"),
                    *("--directory", str(self.path.resolve())),
                    *("--programs", str(self.programs_file.resolve())),
                    *("--region", region, "--port", str(port)),
                ],
                cwd=MODULES,
                env=plain_environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                umask=PRIVATE_UMASK,
                start_new_session=True,  # Ctrl-C in this terminal must not stop the sandbox
            )

    def _wait_until_ready(self, daemon: subprocess.Popen[bytes]) -> SandboxStatus:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            status = self.read_status()
            if status is not None and status.pid == daemon.pid:
                daemon.returncode = 0  # it outlives this process; Popen must not wait for it
                return status
            if daemon.poll() is not None:
                raise SandboxError(f"the sandbox did not start:\n{self._tail()}")
            time.sleep(_POLL_SECONDS)
        daemon.kill()
        daemon.wait()
        raise SandboxError(
            f"the sandbox was not ready after {_START_SECONDS:.0f} seconds:\n{self._tail()}"
        )

    def _end(self, process: ProcessIdentity) -> None:
        process.send(signal.SIGTERM)
        if not self._ended(process, _STOP_SECONDS):
            process.send(signal.SIGKILL)
            self._ended(process, _STOP_SECONDS)
        process.reap()

    def _ended(self, process: ProcessIdentity, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while process.is_alive and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return not process.is_alive

    def _clear_leftovers(self) -> None:
        """Remove the files and end the processes of an account that has ended."""
        sweep(self.processes)
        self.daemon_file.unlink(missing_ok=True)
        remove_tree(self.clusters)
        remove_tree(self.cloudformation)
        remove_slurm(self.slurm)
        if self.pulumi_state.exists():
            aside = self.pulumi_state.with_name("ended") / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
            aside.parent.mkdir(exist_ok=True, mode=0o700)
            self.pulumi_state.rename(aside)

    @property
    def _output(self) -> Path:
        return self.logs / "output.log"

    def _tail(self) -> str:
        text = self._output.read_text(encoding="utf-8", errors="replace")
        last = [f"  {line}" for line in text.splitlines()[-_TAIL_LINES:]]
        return "\n".join([*(last or ["  (it wrote nothing)"]), f"the whole log: {self._output}"])
