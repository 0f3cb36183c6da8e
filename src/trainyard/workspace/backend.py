"""The user's Pulumi backend: its login, its files, and its stacks."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import typer

from trainyard.cli import console, failures
from trainyard.components.typed_command import pulumi_command
from trainyard.stack_files.files import file_text
from trainyard.stack_files.installation import PROJECT
from trainyard.stack_files.yaml_reader import read_yaml

if TYPE_CHECKING:
    from trainyard.stack_files.stack_files import StackFile


STACK_NOT_FOUND = 6
"""Exit code of the engine.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/cmd/exit_codes.go"""


class StackMissingError(Exception):
    """The stack does not exist in the user's Pulumi backend; the message says how to create it."""

    def __init__(self, stack_file: StackFile) -> None:
        super().__init__(
            f"the Pulumi backend that you are logged in to has no stack {stack_file.stack}; "
            "nothing was changed. Create it:\n"
            f"  {pulumi_command(shlex.join(init_arguments(stack_file)))}"
        )


def init_arguments(stack_file: StackFile) -> list[str]:
    """Return the arguments of `pulumi` that create the stack.

    `stack init` does not read the provider from the stack file:
    https://www.pulumi.com/docs/iac/cli/commands/pulumi_stack_init/
    """
    provider = stack_file.content.get("secretsprovider")
    key = ["--secrets-provider", str(provider)] if provider else []
    return ["stack", "init", stack_file.stack, *key]


# File layout of a `file://` backend of the engine.
#
# Source: https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/store.go and `lock.go`


_BOOKKEEPING = ".pulumi"


def backend_directory(address: str) -> Path | None:
    """Return the directory of a backend; None if it is not a directory on this machine.

    Args:
        address: The backend URL as `pulumi whoami` prints it.
    """
    scheme, _, place = address.partition("://")
    return Path(unquote(place.partition("?")[0])).expanduser() if scheme == "file" else None


def state_file(backend: Path, stack: str) -> Path:
    """Return the state file of a stack."""
    return backend / _BOOKKEEPING / "stacks" / PROJECT / f"{stack}.json"


def lock_directory(backend: Path, stack: str) -> Path:
    """Return the lock directory of a stack, which exists after the first lock."""
    return backend / _BOOKKEEPING / "locks" / "organization" / PROJECT / stack


def history_directory(backend: Path, stack: str) -> Path:
    """Return the directory with a record of each update of a stack that ended."""
    return backend / _BOOKKEEPING / "history" / PROJECT / stack


# Whether Pulumi would ask for a login to a backend or for a passphrase, without asking Pulumi.
#
# Without a login, Pulumi asks for one in a terminal, and otherwise names only a variable of Pulumi
# Cloud. A passphrase encrypts the secrets of a stack, unless Pulumi Cloud or a key does.
#
# Sources:
#     https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/workspace/creds.go,
#     `GetCurrentCloudURLWithSource`, and sdk/go/common/workspace/creds.go
#     https://www.pulumi.com/docs/iac/concepts/secrets/#available-encryption-providers
#     https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/secrets/passphrase/manager.go,
#     `readPassphrase`


CLOUD = "https://api.pulumi.com"
"""Backend of Pulumi Cloud.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/httpstate/backend.go,
`ValueOrDefaultURL`"""

_ENCRYPTED = "$pulumiSecureStore"
"""Key of an encrypted file of logins.
https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/util/securestore/envelope.go"""

PASSPHRASE = "PULUMI_CONFIG_PASSPHRASE"  # noqa: S105 - the name of a variable
PASSPHRASE_FILE = "PULUMI_CONFIG_PASSPHRASE_FILE"  # noqa: S105 - the name of a variable


class NotLoggedInError(Exception):
    """There is no login to a backend; the message has the commands."""


def require_login(environment: Mapping[str, str], project: Path) -> str:
    """Return the URL of the backend that the engine uses; empty if its file is encrypted.

    Args:
        environment: The environment of the engine.
        project: Directory of `Pulumi.yaml`, which may name a backend.

    Raises:
        NotLoggedInError: none is selected, or there is no token for Pulumi Cloud.
    """
    stored = _stored(environment)
    if stored is None:
        return ""
    token = bool(environment.get("PULUMI_ACCESS_TOKEN"))
    url = (
        environment.get("PULUMI_BACKEND_URL")
        or _of_project(project)
        or str(stored.get("current") or "")
        or (environment.get("PULUMI_API") or CLOUD if token else "")
    ).rstrip("/")
    if not url or (is_cloud(url) and not token and not _has_account(stored, url)):
        raise NotLoggedInError(
            "you are not logged in to a Pulumi backend, which keeps the state of the stacks; log "
            f"in:  {pulumi_command('login file://~')}\n"
            "  docs/backends.md has the commands for S3 and Pulumi Cloud"
        )
    return url


def is_cloud(url: str) -> bool:
    """Return whether a backend is Pulumi Cloud, or an installation of it."""
    return url.startswith(("https://", "http://"))


def lacks_passphrase(
    stack_file: Mapping[str, Any], *, backend: str, environment: Mapping[str, str]
) -> bool:
    """Return whether the engine would ask for a passphrase.

    An empty `PULUMI_CONFIG_PASSPHRASE` is a passphrase; an empty `PULUMI_CONFIG_PASSPHRASE_FILE`
    is not a file.

    Args:
        stack_file: The content of the stack file. Pulumi writes `encryptionsalt` for a passphrase
            and `secretsprovider` for a key, such as `awskms://alias/pulumi`.
        backend: URL of the backend. Pulumi Cloud encrypts secrets unless the stack has a provider.
        environment: The environment of the engine.
    """
    if PASSPHRASE in environment or environment.get(PASSPHRASE_FILE):
        return False
    if stack_file.get("encryptionsalt"):
        return True
    provider = stack_file.get("secretsprovider")
    if provider:
        return provider == "passphrase"
    return bool(backend) and not is_cloud(backend)


def _stored(environment: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return the stored logins; None if only Pulumi can read the file."""
    try:
        text = _credentials(environment)
        stored = json.loads(text) if text else {}
    except (FileNotFoundError, KeyError):
        return {}
    except (OSError, ValueError):
        return None
    return stored if isinstance(stored, dict) and _ENCRYPTED not in stored else None


def _credentials(environment: Mapping[str, str]) -> str:
    """Return the text of the file of logins.

    Without a variable, the engine asks the system for the home directory, whatever `HOME` is:
    https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/util/pulumihome/pulumihome.go

    Raises:
        FileNotFoundError: there is no login.
        KeyError: the user has no home directory.
    """
    given = environment.get("PULUMI_CREDENTIALS_PATH") or environment.get("PULUMI_HOME")
    directory = Path(given) if given else Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pulumi"
    return file_text(directory / "credentials.json")


def _of_project(project: Path) -> str:
    content = read_yaml(project / "Pulumi.yaml") or {}
    return str((content.get("backend") or {}).get("url") or "")


def _has_account(stored: Mapping[str, Any], url: str) -> bool:
    account = (stored.get("accounts") or {}).get(url) or {}
    older = (stored.get("accessTokens") or {}).get(url)
    return bool(account.get("accessToken") or account.get("refreshToken") or older)


def backend_variables(stack_file: StackFile) -> Mapping[str, str]:
    """Return the variables without which the engine would ask for the passphrase.

    Commands run the engine several times, so the user is asked once per command.

    Raises:
        NotLoggedInError: there is no login.
        WrongUseError: there is no passphrase, and no terminal to ask for it.
    """
    backend = require_login(os.environ, stack_file.project_directory)
    if not lacks_passphrase(stack_file.content, backend=backend, environment=os.environ):
        return {}
    stack = stack_file.stack
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise failures.WrongUseError(
            f"a passphrase encrypts the secrets of {stack}, and there is no terminal to ask for "
            f"it; set {PASSPHRASE}, or set {PASSPHRASE_FILE} to the path of a file with it"
        )
    is_new = not stack_file.content.get("encryptionsalt")
    console.progress(
        f"a passphrase encrypts the secrets of {stack} in its state and its stack file. Set "
        f"{PASSPHRASE} or {PASSPHRASE_FILE} to run commands without this question"
    )
    given: str = typer.prompt(
        f"Passphrase of {stack}",
        default="",
        show_default=False,
        hide_input=True,
        confirmation_prompt=is_new,
        err=True,
    )
    return {PASSPHRASE: given}
