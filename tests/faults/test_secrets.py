"""No secret of the user's is found in what a stack leaves behind, says, or runs as.

A sandbox is brought up and down once by somebody whose environment is full of secrets; every test
looks at one place. The same was done by hand with an EKS stack (`docs/security.md`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox.plain_environment import plain_environment
from tests.support.sandbox import Done, Sandbox

CANARY = "c4n4ry"
STACK = "vpc-one-az"
SECRETS = {
    "AWS_ACCESS_KEY_ID": f"AKIA{CANARY}",
    "AWS_SECRET_ACCESS_KEY": f"{CANARY}-aws",
    "AWS_SESSION_TOKEN": f"{CANARY}-session",
    "PULUMI_ACCESS_TOKEN": f"{CANARY}-pulumi",
    "PULUMI_CONFIG_PASSPHRASE": f"{CANARY}-passphrase",
    "GITHUB_TOKEN": f"{CANARY}-github",
    "HF_TOKEN": f"{CANARY}-hugging-face",
    "WANDB_API_KEY": f"{CANARY}-wandb",
    "DATABASE_URL": f"postgres://me:{CANARY}@db.example.com/x",
    "HTTPS_PROXY": f"http://me:{CANARY}@proxy.example.com:3128",
    "http_proxy": f"http://me:{CANARY}@proxy.example.com:3128",
    "SSH_PRIVATE_KEY": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n",
}
COMMANDS = (
    ("check", STACK, "--sandbox", "--json"),
    ("preview", STACK, "--sandbox", "--sarif"),
    ("up", STACK, "--sandbox", "--yes"),
    ("outputs", STACK, "--sandbox", "--json", "--show-secrets"),
    ("plan", STACK, "--sandbox", "--json"),
    ("sandbox", "status"),
    ("sandbox", "inventory", "--json"),
    ("destroy", STACK, "--sandbox", "--yes"),
)


@dataclass(slots=True)
class Seen:
    """What was seen of one life."""

    done: list[Done] = field(default_factory=list[Done])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Content of what the sandbox left, by path."""
    arguments: set[str] = field(default_factory=set[str])
    """Command lines of processes that hold a secret."""
    environments: set[str] = field(default_factory=set[str])
    """Command lines of processes whose environment holds one."""

    def look(self, directory: Path) -> None:
        """Look at the processes that work in a sandbox's directory, and at its children's."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                environment = (process / "environ").read_bytes()
            except OSError:
                continue  # it has ended
            if str(directory).encode() not in environment + line.encode():
                continue
            if CANARY in line:
                self.arguments.add(line)
            if CANARY.encode() in environment and "tools.cli" not in line:
                self.environments.add(line)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Bring the stack up and down, and look all the while."""
    sandbox = Sandbox(tmp_path_factory.mktemp("secrets") / "sandbox", settings=SECRETS)
    found, ended = Seen(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            found.look(sandbox.directory)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found.done = [sandbox.must(*command) for command in COMMANDS]
        found.files = {
            str(path): path.read_bytes() for path in sandbox.directory.rglob("*") if path.is_file()
        }
        yield found
    finally:
        sandbox.run("sandbox", "stop")
        ended.set()
        watcher.join()


@pytest.mark.sandbox
def test_no_command_says_one(seen: Seen) -> None:
    assert [done.arguments for done in seen.done if CANARY in done.said] == []


@pytest.mark.sandbox
def test_no_file_of_state_logs_and_documents_holds_one(seen: Seen) -> None:
    assert any(path.endswith(f"{STACK}.json") for path in seen.files), "the state was looked at"
    assert any("logs" in path for path in seen.files), "the logs were looked at"
    assert [path for path, content in seen.files.items() if CANARY.encode() in content] == []


@pytest.mark.sandbox
def test_no_process_has_one_in_its_arguments(seen: Seen) -> None:
    assert seen.arguments == set()


@pytest.mark.sandbox
def test_no_process_of_the_sandbox_has_one_in_its_environment(seen: Seen) -> None:
    """The command itself has what its user has; the daemon, the engine and plugins have not."""
    assert seen.environments == set()


def test_what_is_kept_of_an_environment_is_listed() -> None:
    kept = {"PATH": "/bin", "HOME": "/root", "LC_ALL": "C", "TRAINYARD_SANDBOX": "/x"}
    assert plain_environment({**SECRETS, **kept, "SOMETHING_NEW": "x"}) == kept
