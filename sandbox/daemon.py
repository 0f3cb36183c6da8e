"""The sandbox's one long-living process: `python -m trainyard.sandbox.daemon`.

It answers AWS calls, runs a control plane for each EKS cluster, lets EC2 instances join their
clusters as nodes, and runs CloudFormation when somebody calls it. SIGTERM and SIGINT end it with
everything that it started.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue

from trainyard.sandbox.aws.cloudformation.service import CloudFormation, clusters_of
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.server import AwsServer, HttpsEndpoints, PortInUseError, issuer_hosts
from trainyard.sandbox.file_lock import LockTakenError, locked
from trainyard.sandbox.kubernetes.addons import AddonObjects
from trainyard.sandbox.kubernetes.aws_program import write_aws_program
from trainyard.sandbox.kubernetes.control_planes import CONTROLLERS, ControlPlanes, check_version
from trainyard.sandbox.kubernetes.controllers import Controllers
from trainyard.sandbox.kubernetes.instances import SandboxAccount
from trainyard.sandbox.kubernetes.nodes import NodeSimulator
from trainyard.sandbox.parallelcluster.provider.account import Records
from trainyard.sandbox.process_identity import own_identity, write_identity
from trainyard.sandbox.processes import Spawner, requests_to_end, sweep
from trainyard.sandbox.slurm.blocks import BlockInstances
from trainyard.sandbox.slurm.head_nodes import HeadNodes
from trainyard.sandbox.state import (
    PARALLELCLUSTER_PYTHON,
    SLURM_PROGRAMS,
    SandboxDirectory,
    SandboxStatus,
)

LOG = logging.getLogger("trainyard.sandbox.daemon")

DIRECTORY_POLL_SECONDS = 2.0

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def main(arguments: list[str] | None = None) -> int:
    """Run until a signal stops the process; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m trainyard.sandbox.daemon", description=__doc__)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--programs", type=Path, required=True, help="JSON: program -> argv prefix")
    parser.add_argument("--region", default="us-west-2")
    parser.add_argument("--port", type=int, default=0, help="of the AWS endpoint; 0: a free one")
    options = parser.parse_args(arguments)
    signals = requests_to_end()
    directory = SandboxDirectory(options.directory)
    directory.logs.mkdir(parents=True, exist_ok=True)
    _log_to(directory.logs)
    try:
        with locked(directory.lock_file):
            write_identity(own_identity(), directory.lock_file)
            _serve(directory, options, signals)
    except LockTakenError:
        print(f"a sandbox runs already in {directory.path}", file=sys.stderr)  # noqa: T201 - shown by whoever started it
        return 1
    except PortInUseError as error:
        print(error, file=sys.stderr)  # noqa: T201 - as above
        return 1
    return 0


def _serve(
    directory: SandboxDirectory, options: argparse.Namespace, signals: SimpleQueue[int]
) -> None:
    programs: dict[str, list[str]] = json.loads(options.programs.read_text(encoding="utf-8"))
    left = sweep(directory.processes)
    if left:
        LOG.warning("ended what an earlier daemon left: %s", ", ".join(left))
    server = AwsServer(region=options.region, port=options.port)
    spawner = Spawner(directory.processes)
    for later in (PARALLELCLUSTER_PYTHON, SLURM_PROGRAMS, *CONTROLLERS):
        programs.pop(later, None)
    server.look_for_cloudformation(lambda: _cloudformation(directory, spawner, options.region))
    stop_kubernetes = _kubernetes(directory, programs, server, spawner, options.region)
    stop_slurm = _slurm(directory, server, spawner, options.region)
    hosts = HttpsEndpoints(issuer_hosts(options.region), directory.path / "https")
    with server, hosts.serving():
        identity = own_identity()
        directory.write_status(
            SandboxStatus(
                pid=identity.pid,
                process_start_time=identity.start_time,
                aws_endpoint=server.endpoint,
                access_key=server.access.access_key,
                account_id=ACCOUNT_ID,
                region=options.region,
                https_environment=hosts.environment(),
            )
        )
        LOG.info("ready: %s", server.endpoint)
        _wait(directory, signals)
        LOG.info("ending")
        directory.daemon_file.unlink(missing_ok=True)
        stop_slurm()
        stop_kubernetes()
        spawner.stop_all()


def _cloudformation(
    directory: SandboxDirectory, spawner: Spawner, region: str
) -> CloudFormation | None:
    """Return the CloudFormation handler, if the sandbox has a Python for it."""
    python = directory.program(PARALLELCLUSTER_PYTHON)
    if python is None:
        return None
    return CloudFormation(directory.cloudformation, python, spawner.spawn, region=region)


def _slurm(
    directory: SandboxDirectory, server: AwsServer, spawner: Spawner, region: str
) -> Callable[[], None]:
    """Run commands on the head nodes of Slurm clusters; return a function that ends them."""

    def programs() -> Path | None:
        found = directory.program(SLURM_PROGRAMS)
        return Path(found[0]) if found else None

    records = Records(clusters_of(directory.cloudformation))
    instances = BlockInstances(server.application.lock, region)
    head_nodes = HeadNodes(
        directory.slurm, records, instances, programs, spawner.spawn, server.access
    )
    server.use_head_nodes(head_nodes)
    stopped = threading.Event()
    thread = threading.Thread(target=head_nodes.follow, args=(stopped,), name="slurm", daemon=True)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join()
        head_nodes.stop_all()

    return stop


def _wait(directory: SandboxDirectory, signals: SimpleQueue[int]) -> None:
    """Wait until the sandbox is stopped or its directory is removed."""
    while directory.daemon_file.exists():
        with contextlib.suppress(Empty):
            signals.get(timeout=DIRECTORY_POLL_SECONDS)
            return


def _kubernetes(
    directory: SandboxDirectory,
    programs: Mapping[str, list[str]],
    server: AwsServer,
    spawner: Spawner,
    region: str,
) -> Callable[[], None]:
    """Start control planes and nodes for clusters; return a function that stops both."""
    if not programs:
        return lambda: None
    directory.clusters.mkdir(exist_ok=True)
    write_aws_program(directory.bin, clusters=directory.clusters, region=region)
    control_planes = ControlPlanes(directory.clusters, programs, server.access, spawner.spawn)
    server.use_control_planes(control_planes, check_version)
    server.use_addon_installer(AddonObjects(control_planes))
    account = SandboxAccount(server.access, region, server.running_instance_ids)
    simulator = NodeSimulator(account, control_planes)
    stopped = threading.Event()
    thread = threading.Thread(target=simulator.run, args=(stopped,), name="nodes", daemon=True)
    thread.start()
    released = Controllers(control_planes, directory.program, spawner.spawn)
    controllers = threading.Thread(
        target=released.run, args=(stopped,), name="controllers", daemon=True
    )
    controllers.start()

    def stop() -> None:
        stopped.set()
        thread.join()
        controllers.join()
        control_planes.stop_all()

    return stop


def _log_to(logs: Path) -> None:
    logging.basicConfig(
        filename=logs / "daemon.log", level=logging.INFO, format=_FORMAT, force=True
    )
    logging.getLogger("botocore").setLevel(logging.WARNING)
    unimplemented = logging.FileHandler(logs / "unimplemented.log", delay=True)
    unimplemented.setFormatter(logging.Formatter(_FORMAT))
    logging.getLogger("sandbox.unimplemented").addHandler(unimplemented)


if __name__ == "__main__":
    sys.exit(main())
