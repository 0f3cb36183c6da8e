"""The user's account on AWS, and the emulated one of the sandbox.

Their methods import the engine and the sandbox, which most commands do not use
(docs/performance.md).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.stack_files.completion import sandbox_config
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.recovery.timeouts import IN_AN_ACCOUNT, IN_THE_SANDBOX
from trainyard.workspace.target import Account, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trainyard.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class AwsAccount(Account):
    """The user's account on AWS."""

    settings: ProviderSettings = OF_ENVIRONMENT

    is_sandbox = False
    option = ""
    timeouts = IN_AN_ACCOUNT
    join_seconds = 1200.0
    """Time for instances in service to join; p5 instances take several minutes to start."""

    def start(self, report: Callable[[str], None]) -> None:
        """Do nothing; AWS runs."""

    def completed(self, stack_file: StackFile) -> StackFile:
        """Return it unchanged; the file has what its user says."""
        return stack_file

    def workspace(self, target: Target) -> Workspace:
        """Return a workspace in the user's backend."""
        from trainyard.workspace.session import account_workspace

        return account_workspace(target)

    @contextlib.contextmanager
    def access(self) -> Iterator[None]:
        """Let boto3 use the credentials of the profile or of the environment."""
        from trainyard.engine.environment import process_environment, profile_environment
        from trainyard.workspace.session import require_account

        with process_environment(profile_environment(os.environ, self.settings.profile)):
            require_account(self.settings)
            yield

    def lock_file(self, stack_file: StackFile) -> Path:
        """Return a file next to the stack file."""
        return stack_file.own_files / "locks" / f"{stack_file.stack}.lock"

    def kubeconfig_directory(self, stack_file: StackFile) -> Path:
        """Return the directory of the files that commands write for the stack."""
        return stack_file.own_files

    def usable_kubeconfig(self, kubeconfig: str) -> str:
        """Return it unchanged; it asks the AWS CLI of the user for a token."""
        return kubeconfig

    def kubectl(self) -> str:
        """Return the name of the user's program."""
        return "kubectl"

    def network_outputs(self, stack: str) -> Mapping[str, Any] | None:
        """Ask the engine, in the user's backend."""
        from trainyard.stack_files.stack_references import account_outputs

        return account_outputs(stack)

    def usual_region(self) -> str:
        """Return the region of the AWS configuration."""
        from trainyard.components.account.session import usual_region

        return usual_region()

    def capacity_directory(self, own_files: Path) -> Path:
        """Return a directory in that of the user."""
        return own_files / "capacity"


@dataclass(frozen=True, slots=True)
class SandboxAccount(Account):
    """The emulated account of the sandbox on this machine."""

    settings: ProviderSettings = OF_ENVIRONMENT
    """Without a profile: the environment of the engine has the credentials of the sandbox."""

    is_sandbox = True
    option = " --sandbox"
    timeouts = IN_THE_SANDBOX
    join_seconds = 120.0

    def start(self, report: Callable[[str], None]) -> None:
        """Start the sandbox."""
        from trainyard.sandboxes.session import started_sandbox

        started_sandbox(report)

    def completed(self, stack_file: StackFile) -> StackFile:
        """Return it with ids of the emulated account."""
        from trainyard.stack_files.completion import completed, sandbox_completion

        return completed(stack_file, sandbox_completion(stack_file))

    def workspace(self, target: Target) -> Workspace:
        """Return a workspace in the project of the sandbox; start the sandbox."""
        from trainyard.workspace.session import sandbox_workspace

        return sandbox_workspace(target)

    @contextlib.contextmanager
    def access(self) -> Iterator[None]:
        """Let boto3 use the endpoint of the running sandbox."""
        from trainyard.engine.environment import process_environment
        from trainyard.sandboxes.session import running_sandbox
        from trainyard.workspace.session import require_account

        with process_environment(running_sandbox().aws_environment()):
            require_account(self.settings)
            yield

    def lock_file(self, stack_file: StackFile) -> Path:
        """Return a file in the project of the sandbox."""
        from trainyard.sandboxes.session import project_of
        from trainyard.workspace.project import sandbox_directory

        return project_of(sandbox_directory()).lock_file(stack_file.stack)

    def kubeconfig_directory(self, stack_file: StackFile) -> Path:
        """Return the directory of the sandbox."""
        from trainyard.workspace.project import sandbox_directory

        del stack_file
        return sandbox_directory().path

    def usable_kubeconfig(self, kubeconfig: str) -> str:
        """Return a kubeconfig with the path of the sandbox's `aws`.

        Clusters of a sandbox require it, and it is first on the PATH only for the engine.
        """
        from trainyard.workspace.project import sandbox_directory

        content = yaml.safe_load(kubeconfig)
        commands = (user["user"].get("exec") for user in content.get("users", ()))
        asking = [command for command in commands if command and command["command"] == "aws"]
        for command in asking:
            command["command"] = str(sandbox_directory().bin / "aws")
        return json.dumps(content, indent=2) if asking else kubeconfig

    def kubectl(self) -> str:
        """Return the user's program, or the path of the sandbox's if the user has none."""
        from trainyard.sandboxes.session import kubectl_wrapper

        return "kubectl" if shutil.which("kubectl") else str(kubectl_wrapper())

    def network_outputs(self, stack: str) -> Mapping[str, Any] | None:
        """Read the state in the backend of the sandbox."""
        from trainyard.stack_files.stack_references import sandbox_outputs

        return sandbox_outputs(stack)

    def usual_region(self) -> str:
        """Return the region of the emulated account."""
        from trainyard.init.conflicts import SANDBOX_REGION

        return SANDBOX_REGION

    def capacity_directory(self, own_files: Path) -> Path:
        """Return a directory in the project of the sandbox."""
        from trainyard.sandboxes.session import project_of
        from trainyard.workspace.project import sandbox_directory

        del own_files
        return project_of(sandbox_directory()).directory / "capacity"


def account_of(*, sandbox: bool, profile: str = "") -> Account:
    """Return the account that `--sandbox` selects, for commands without a stack."""
    return SandboxAccount() if sandbox else AwsAccount(ProviderSettings(profile=profile))


def target_of(stack_file: StackFile, *, sandbox: bool) -> Target:
    """Return a stack in the account that `--sandbox` selects, with the settings of its file."""
    if not sandbox:
        return Target(stack_file, AwsAccount(stack_file.settings))
    own = replace(stack_file, content={**stack_file.content, "config": sandbox_config(stack_file)})
    return Target(stack_file, SandboxAccount(own.settings))
