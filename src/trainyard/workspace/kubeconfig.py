"""The kubeconfig of a stack, for `kubectl` and for clients in this process."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import yaml

from trainyard.sandboxes.session import kubectl_wrapper
from trainyard.stack_files.files import write_private
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.project import sandbox_directory


def kubeconfig_path(stack_file: StackFile, *, sandbox: bool) -> Path:
    """Return the path of the kubeconfig of a stack."""
    directory = sandbox_directory().path if sandbox else stack_file.own_files
    return directory / f"{stack_file.stack}.kubeconfig"


def write_kubeconfig(kubeconfig: str, stack_file: StackFile, *, sandbox: bool) -> tuple[Path, str]:
    """Write the kubeconfig of a stack, and return its path and the text that was written."""
    path = kubeconfig_path(stack_file, sandbox=sandbox)
    text = usable_kubeconfig(kubeconfig, sandbox=sandbox)
    write_private(path, text)
    return path, text


def usable_kubeconfig(kubeconfig: str, *, sandbox: bool) -> str:
    """Return a kubeconfig for programs that the engine does not start.

    Clusters of a sandbox require the sandbox's `aws`, which is first on the PATH only for the
    engine; for other programs the kubeconfig contains its path.
    """
    if not sandbox:
        return kubeconfig
    content = yaml.safe_load(kubeconfig)
    commands = (user["user"].get("exec") for user in content.get("users", ()))
    asking = [command for command in commands if command and command["command"] == "aws"]
    for command in asking:
        command["command"] = str(sandbox_directory().bin / "aws")
    return json.dumps(content, indent=2) if asking else kubeconfig


def kubectl_command(kubeconfig: Path, *, sandbox: bool) -> str:
    """Return the `kubectl` command for a cluster, or the sandbox's if the user has none.

    It is quoted for a shell.
    """
    program = "kubectl"
    if sandbox and not shutil.which(program):
        program = str(kubectl_wrapper())
    return shlex.join([program, "--kubeconfig", str(kubeconfig)])
