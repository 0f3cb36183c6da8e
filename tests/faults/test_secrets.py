"""Files, output and processes of a stack contain no secret of the user.

An EKS stack is brought up and down once by a user whose environment contains secrets, and whose
stack file contains one that Pulumi has encrypted; every test checks one place. The processes are
plain ones, and the preview is a command of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.support.eks import P5_CB
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.tracked import ROOT
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError
from trainyard.sandbox.plain_environment import plain_environment
from trainyard.stack_files.completion import completed
from trainyard.stack_files.stack_files import StackFile

CANARY = "c4n4ry"
STACK = "p5-cb"
MODULE = "tests.support.without_preview"
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
ENCRYPTED = f"v1:{CANARY}:{CANARY}"
COMMANDS = (
    ("check", "--json"),
    ("preview", "--sarif"),
    ("up", "--yes"),
    ("outputs", "--json", "--show-secrets"),
    ("diagnose", "--output", "BUNDLE"),
    ("plan", "--json"),
    ("artifact", "kubeconfig"),
    ("destroy", "--yes"),
)
"""Commands, with the arguments that follow the stack; `BUNDLE` is a new directory."""
OTHERS = (("sandbox", "status"), ("sandbox", "inventory", "--json"))
# Processes that a user starts have the user's environment: the command with the calls of its
# script, and the `aws` of a kubeconfig, which the command's client starts.
USERS_OWN = (
    *("trainyard.cli", MODULE, str(ROOT / "trainyard"), f"cmp -s -- {ROOT}"),
    "sandbox/kubernetes/aws_program.py",
)


@dataclass(slots=True)
class Seen:
    """The records of one life of the stack."""

    done: list[Done] = field(default_factory=list[Done])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Content of the sandbox's files, by path."""
    arguments: set[str] = field(default_factory=set[str])
    """Command lines that contain a secret."""
    environments: set[str] = field(default_factory=set[str])
    """Command lines of processes whose environment contains one."""

    def live(self, sandbox: Sandbox, stack_file: Path) -> None:
        """Run every command, from `check` to `destroy`."""
        with_file = ("--sandbox", "--stack-file", str(stack_file))
        for name, *more in COMMANDS:
            bundle = str(sandbox.directory / "bundle")
            given = [bundle if each == "BUNDLE" else each for each in more]
            self.done.append(sandbox.must(name, STACK, *given, *with_file))
            if name == "up":
                self.done += [sandbox.must(*command) for command in OTHERS]

    def look(self, directory: Path) -> None:
        """Record the processes that work in a sandbox's directory, or below it."""
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
            own = any(name in line for name in USERS_OWN)
            if CANARY.encode() in environment and not own:
                self.environments.add(line)


def contents(directory: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a sandbox that runs, which can remove any of them at any time."""
    for folder, _, names in os.walk(directory):
        for path in (Path(folder, name) for name in names):
            with suppress(FileNotFoundError):
                if path.is_file():
                    yield str(path), path.read_bytes()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Bring the stack up and down, and record processes all the time."""
    place = tmp_path_factory.mktemp("secrets")
    sandbox = Sandbox(place / "sandbox", settings=SECRETS, module=MODULE)
    stack_file = copied_stack_file(place / "stack.yaml", {}, STACK)
    content = yaml.safe_load(stack_file.read_text(encoding="utf-8"))
    content["config"]["other:token"] = {"secure": ENCRYPTED}
    stack_file.write_text(yaml.safe_dump(content), encoding="utf-8")
    found, ended = Seen(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            found.look(sandbox.directory)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found.live(sandbox, stack_file)
        found.files = dict(contents(sandbox.directory))
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
    assert any("bundle/state.json" in path for path in seen.files), "the diagnosis was looked at"
    assert [path for path, content in seen.files.items() if CANARY.encode() in content] == []


@pytest.mark.sandbox
def test_no_process_has_one_in_its_arguments(seen: Seen) -> None:
    assert seen.arguments == set()


@pytest.mark.sandbox
def test_no_process_of_the_sandbox_has_one_in_its_environment(seen: Seen) -> None:
    """The command has its user's environment; the daemon, the engine and plugins do not."""
    assert seen.environments == set()


def test_what_is_kept_of_an_environment_is_listed() -> None:
    kept = {"PATH": "/bin", "HOME": "/root", "LC_ALL": "C", "TRAINYARD_SANDBOX": "/x"}
    assert plain_environment({**SECRETS, **kept, "SOMETHING_NEW": "x"}) == kept


def test_a_sandbox_is_given_nothing_that_pulumi_has_encrypted() -> None:
    """The user has its key; an engine with another key would fail at the first such value."""
    secret = {"secure": ENCRYPTED}
    config = {"aws:region": "us-west-2", "a:b": secret, "c:d": {"e": [secret]}, "f:g": {"h": "i"}}
    given = completed(StackFile("x", Path("Pulumi.x.yaml"), {"config": config}), {})
    assert sorted(given.config) == ["aws:region", "f:g", "trainyard:cluster"]


def test_a_stack_file_with_a_secret_for_the_program_is_refused_without_it() -> None:
    """As in a file, and as the engine passes it on, decrypted, after `config set --secret`."""
    encrypted = {**P5_CB, "tags": {"token": {"secure": "v1:x:y"}}}
    with pytest.raises(ConfigError, match=r"tags\.token"):
        load_stack_config(encrypted, stack_file="Pulumi.x.yaml")
    handed_on = {**P5_CB, "tags": {"token": CANARY}}
    with pytest.raises(ConfigError, match="has an encrypted value") as refusal:
        load_stack_config(handed_on, stack_file="Pulumi.x.yaml", encrypted=True)
    assert CANARY not in str(refusal.value)
