"""The account in which a command works, and the stack that it works on.

A command makes its target once, from its arguments (`trainyard.cli.options.target`), and passes it
on. `trainyard.workspace.accounts` has the account of AWS and that of the sandbox.
"""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from trainyard.stack_files.files import write_private
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.recovery.timeouts import Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from botocore.config import Config

    from trainyard.components.account.reader import AccountReader
    from trainyard.components.config.provider_settings import ProviderSettings
    from trainyard.workspace.workspace import Workspace


class Account(ABC):
    """An account of AWS, or the emulated one of the sandbox."""

    is_sandbox: ClassVar[bool]
    settings: ProviderSettings
    """How the account is reached: as the engine does, with the settings of the stack file."""
    option: ClassVar[str]
    """The option that selects it in a command, with a leading space."""
    timeouts: ClassVar[Timeouts]
    """How long it may take to show and to complete new objects."""
    join_seconds: ClassVar[float]
    """How long `up` waits for nodes and plugins after the engine has finished."""

    @abstractmethod
    def start(self, report: Callable[[str], None]) -> None:
        """Start what answers for the account, if it is on this machine and does not run."""

    @abstractmethod
    def completed(self, stack_file: StackFile) -> StackFile:
        """Return a stack file with what the account alone knows, such as ids; given values stay."""

    @abstractmethod
    def workspace(self, target: Target) -> Workspace:
        """Return the workspace of a stack of the account; install and start what it requires.

        Raises:
            NotLoggedInError: no login to a Pulumi backend.
            WrongUseError: no credentials, no passphrase, another region than the sandbox's, or no
                AWS CLI for an EKS stack.
        """

    @abstractmethod
    def access(self) -> AbstractContextManager[None]:
        """Let boto3 in this process use the account.

        Raises:
            WrongUseError: there are no credentials, a role cannot be assumed, or the account is not
                allowed.
            ConfigError: the settings of the stack file cannot be used.
        """

    def client(self, service: str, region: str, config: Config | None = None) -> Any:
        """Return the boto3 client of a service in a region, within `access`.

        Args:
            service: Name of the service, as boto3 has it.
            region: A region.
            config: Its time limits and repeats; by default `CLIENT`.
        """
        from trainyard.components.account.session import AccountSession

        return AccountSession(self.settings, region=region).client(service, config)

    def reader(self, region: str) -> AccountReader:
        """Return the reader of a region of the account, within `access`."""
        from trainyard.components.account.reader import AccountReader

        return AccountReader(region=region, settings=self.settings)

    @abstractmethod
    def lock_file(self, stack_file: StackFile) -> Path:
        """Return the file that a command locks while it changes a stack."""

    @abstractmethod
    def kubeconfig_directory(self, stack_file: StackFile) -> Path:
        """Return the directory of the kubeconfig of a stack."""

    @abstractmethod
    def usable_kubeconfig(self, kubeconfig: str) -> str:
        """Return a kubeconfig for programs that the engine does not start."""

    @abstractmethod
    def kubectl(self) -> str:
        """Return the program `kubectl`: its name, or its path."""

    @abstractmethod
    def network_outputs(self, stack: str) -> Mapping[str, Any] | None:
        """Return the outputs of another stack in the same backend; None if it does not exist."""

    @abstractmethod
    def usual_region(self) -> str:
        """Return the region of commands without a stack; empty if none is known."""

    @abstractmethod
    def capacity_directory(self, own_files: Path) -> Path:
        """Return the directory of the records of `capacity`.

        Args:
            own_files: The directory of the files that commands write for the user's stacks.
        """

    def kubectl_command(self, kubeconfig: Path) -> str:
        """Return the `kubectl` command for a cluster, quoted for a shell."""
        return shlex.join([self.kubectl(), "--kubeconfig", str(kubeconfig)])


@dataclass(frozen=True, slots=True)
class Target:
    """A stack and the account in which it is, or will be, deployed."""

    stack_file: StackFile
    account: Account

    @property
    def stack(self) -> str:
        """Name of the stack."""
        return self.stack_file.stack

    @property
    def region(self) -> str:
        """Region of the stack; empty if its file has none."""
        return self.stack_file.region

    @property
    def is_sandbox(self) -> bool:
        """Whether the account is emulated."""
        return self.account.is_sandbox

    @property
    def options(self) -> str:
        """Options that follow the stack's name in a command, with a leading space."""
        return self.account.option + self.stack_file.file_option

    def command(self, name: str, *arguments: str) -> str:
        """Return a command for the stack, such as `up`, as the user types it.

        Args:
            name: Name of the command.
            arguments: What follows the stack's name, ahead of the options that select the target.
        """
        return f"./trainyard {' '.join((name, self.stack, *arguments))}{self.options}"

    def access(self) -> AbstractContextManager[None]:
        """Let boto3 in this process use the account.

        Raises:
            WrongUseError: there are no credentials.
        """
        return self.account.access()

    def client(self, service: str, config: Config | None = None) -> Any:
        """Return the boto3 client of a service in the region of the stack, within `access`.

        Args:
            service: Name of the service, as boto3 has it.
            config: Its time limits and repeats; by default `CLIENT`.
        """
        return self.account.client(service, self.region, config)

    def reader(self) -> AccountReader:
        """Return the reader of the region of the stack, within `access`."""
        return self.account.reader(self.region)

    @property
    def lock_file(self) -> Path:
        """The file that a command locks while it changes the stack."""
        return self.account.lock_file(self.stack_file)

    @property
    def kubeconfig_path(self) -> Path:
        """Path of the kubeconfig of the stack."""
        return self.account.kubeconfig_directory(self.stack_file) / f"{self.stack}.kubeconfig"

    def write_kubeconfig(self, kubeconfig: str) -> tuple[Path, str]:
        """Write the kubeconfig of the stack, and return its path and the text that was written."""
        path, text = self.kubeconfig_path, self.account.usable_kubeconfig(kubeconfig)
        write_private(path, text)
        return path, text
