"""Start script of multi-node job containers: connect the nodes, then run the main node's command.

`nccl_command` sends this text in the job definition; the image needs Python 3.10, bash and OpenSSH.
Batch gives workers only the address of the main node. Each worker therefore connects to the main
node, sends the public key of its SSH server, and receives the public key that can log in. Private
keys are created in the containers and never leave them. A worker ends when its connection closes,
which happens when the main node ends.

Arguments: the bash script of the main node, with NODES, HOSTS (main node first) and INTERFACE in
its environment; and, optionally, a bash script that every node runs first.

Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html
    https://docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MEETING_PORT = 14820
"""Port of the main node. Both ports are below the ephemeral port range of Linux."""
SSH_PORT = 14822
"""Port of every node."""
SECONDS = int(os.environ.get("MEETING_SECONDS", "1800"))
"""Time limit for all nodes to be ready: workers may still pull the image when the main node
starts."""
DEADLINE = time.monotonic() + SECONDS
OWN = ("AWS_", "ECS_", "HOME", "HOSTNAME", "PWD", "SHLVL", "_")
"""Prefixes of variables that SSH sessions do not get."""
NODES = int(os.environ.get("AWS_BATCH_JOB_NUM_NODES", "1"))
INDEX = int(os.environ.get("AWS_BATCH_JOB_NODE_INDEX", "0"))
MAIN = int(os.environ.get("AWS_BATCH_JOB_MAIN_NODE_INDEX", "0"))
JOB = os.environ.get("AWS_BATCH_JOB_ID", "").partition("#")[0]
SSH = Path.home() / ".ssh"


def say(text: str) -> None:
    """Write a line to the job log."""
    sys.stdout.write(f"node {INDEX} of {NODES}: {text}\n")
    sys.stdout.flush()


def run(*texts: str) -> None:
    """Run bash scripts; the first failure ends this node."""
    for text in texts:
        if code := subprocess.call(["bash", "-euo", "pipefail", "-c", text]):
            sys.exit(code)


def new_key(name: str) -> str:
    """Create a key pair and return the public key."""
    SSH.mkdir(mode=0o700, exist_ok=True)
    file = str(SSH / name)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return " ".join(Path(file + ".pub").read_text().split()[:2])


def use_interface() -> None:
    """Make libraries use the network interface: ECS adds one that reaches only its agent.

    Source: `proc_pid_net(5)`, /proc/net/route: the default route's destination is 0.
    """
    routes = [line.split() for line in Path("/proc/net/route").read_text().splitlines()]
    name = next((route[0] for route in routes if route[1] == "00000000"), "lo")
    for variable in ("INTERFACE", "NCCL_SOCKET_IFNAME", "CCOM_SOCKET_IFNAME"):
        os.environ[variable] = name


def start_sshd(authorized: str) -> subprocess.Popen[bytes]:
    """Start an SSH server that accepts a key and passes on this container's environment."""
    use_interface()
    kept = {n: v for n, v in os.environ.items() if not n.startswith(OWN) and "\n" not in v}
    (SSH / "environment").write_text("".join(f"{n}={v}\n" for n, v in kept.items()))
    (SSH / "authorized_keys").write_text(authorized + "\n")
    Path("/run/sshd").mkdir(exist_ok=True)
    command = [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-e", "-p", str(SSH_PORT)]
    command += ["-h", str(SSH / "host"), "-o", "PermitUserEnvironment=yes"]
    server = subprocess.Popen([*command, "-o", "PasswordAuthentication=no"])
    atexit.register(server.terminate)
    return server


def send(connection: socket.socket, value: Any) -> None:
    """Send one value."""
    connection.sendall(json.dumps(value).encode() + b"\n")


def receive(connection: socket.socket, seconds: float) -> Any:
    """Return the next value, or fail after some seconds."""
    connection.settimeout(seconds)
    with connection.makefile() as lines:
        if line := lines.readline(4096):
            return json.loads(line)
    raise ConnectionError("the connection was closed")


def reach_main(host_key: str) -> tuple[socket.socket, str]:
    """Return a worker's connection to the main node, and the main node's key."""
    address = os.environ["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"], MEETING_PORT
    while True:
        try:
            connection = socket.create_connection(address, 10)
            send(connection, {"job": JOB, "node": INDEX, "key": host_key})
            return connection, receive(connection, 60)
        except (OSError, ValueError) as error:
            if time.monotonic() > DEADLINE:
                at = ":".join(map(str, address))
                sys.exit(f"no answer from the main node at {at} within {SECONDS} s: {error}")
        time.sleep(1)


def work(first: tuple[str, ...]) -> None:
    """Run as a worker until the main node ends."""
    connection, key = reach_main(new_key("host"))
    run(*first)
    server = start_sshd(key)
    send(connection, "ready")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.settimeout(2)
    while server.poll() is None:
        try:
            if not connection.recv(1):
                return say("the main node is done")
        except TimeoutError:
            pass
    sys.exit("the SSH server ended; what it said stands above")


Worker = tuple[socket.socket, str, str]
"""A connection, its address, and the public key of its SSH server."""


def missing(came: dict[int, Worker]) -> list[int]:
    """Return the workers that have not connected."""
    return [node for node in range(NODES) if node not in (MAIN, *came)]


def greet(listener: socket.socket, key: str, came: dict[int, Worker]) -> None:
    """Accept one worker, or reject another client."""
    connection, (address, _) = listener.accept()
    try:
        hello = receive(connection, 10)
        node, host_key = hello["node"], " ".join(hello["key"].split())
        if hello["job"] == JOB and node in missing(came):
            send(connection, key)
            came[node] = connection, address, host_key
            return say(f"node {node} came from {address}")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    connection.close()
    return say(f"turned {address} away: it is no missing node of this job")


def collect(key: str) -> list[Worker]:
    """Return all workers, by index, once they have connected."""
    came: dict[int, Worker] = {}
    with socket.create_server(("", MEETING_PORT), backlog=1024) as listener:
        while missing(came):
            listener.settimeout(max(0.1, DEADLINE - time.monotonic()))
            try:
                greet(listener, key, came)
            except TimeoutError:
                named = ", ".join(f"{JOB}#{node}" for node in missing(came))
                sys.exit(f"not there within {SECONDS} s, see their logs: {named}")
    return [came[node] for node in sorted(came)]


def meet(first: tuple[str, ...]) -> list[Worker]:
    """Return all workers, which then accept SSH sessions of this node."""
    key, own = new_key("client"), new_key("host")
    workers = collect(key)
    run(*first)
    start_sshd(key)
    for connection, address, _ in workers:
        try:
            receive(connection, max(1, DEADLINE - time.monotonic()))
        except (OSError, ValueError) as error:
            sys.exit(f"the node at {address} came and did not get ready; see its log: {error}")
    known = [(workers[0][0].getsockname()[0], own), *(worker[1:] for worker in workers)]
    os.environ["HOSTS"] = " ".join(address for address, _ in known)
    (SSH / "known").write_text("".join(f"[{a}]:{SSH_PORT} {host}\n" for a, host in known))
    (SSH / "config").write_text(
        f"Host *\nPort {SSH_PORT}\nIdentityFile {SSH}/client\nUserKnownHostsFile {SSH}/known\n"
        "StrictHostKeyChecking yes\nBatchMode yes\nConnectionAttempts 30\nLogLevel ERROR\n"
    )
    return workers


def main(command: str, *first: str) -> None:
    """Run as main node or worker; the main node exits with the status of its command."""
    # A process with number 1, as in a container, does not end by itself when Batch asks it to.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.update(NODES=str(NODES), HOSTS="localhost")
    if INDEX != MAIN:
        return work(first)
    # Kept until the command has ended: workers end when their connection does.
    workers = meet(first) if NODES > 1 else run(*first)
    say(f"running on {os.environ['HOSTS']}")
    run(command)
    return say(f"done; {len(workers or ())} workers may go")


if __name__ == "__main__":
    main(*sys.argv[1:])
