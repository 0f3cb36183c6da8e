"""The AWS CLI on this machine, which every EKS stack in an account requires.

pulumi-eks checks for it in every run, including previews, and the generated kubeconfig calls `aws
eks get-token` for each token.

Source: https://github.com/pulumi/pulumi-eks/blob/v4.3.0/nodejs/eks/dependencies.ts,
`assertCompatibleAWSCLIExists`
"""

from __future__ import annotations

import re
import shutil
import subprocess

from trainyard.cli import failures
from trainyard.components.account.check import Row, ok, warning

INSTALL = "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
_OLDEST_1, _OLDEST_2 = (1, 24, 0), (2, 7, 0)
NEEDED = "version 2.7 or later (or 1.24 or later of version 1)"
_VERSION = re.compile(r"aws-cli/(\d+)\.(\d+)\.(\d+)")
_ANSWER_SECONDS = 60
"""The first start after installation reads the whole package from disk."""


def aws_cli_version() -> str:
    """Return the version output of the AWS CLI on the PATH; empty if there is none."""
    command = shutil.which("aws")
    if command is None:
        return ""
    try:
        done = subprocess.run(
            [command, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command} cannot be run: {error}"
    said = done.stdout.strip() or done.stderr.strip()
    return said or f"{command} prints no version"


def is_new_enough(said: str) -> bool:
    """Return whether pulumi-eks accepts this version of the AWS CLI."""
    found = _VERSION.match(said)
    if found is None:
        return False
    version = tuple(map(int, found.groups()))
    return version >= (_OLDEST_1 if version[0] == 1 else _OLDEST_2)


def require_aws_cli() -> None:
    """Raise an error if there is no AWS CLI that pulumi-eks accepts.

    Raises:
        WrongUseError: it is missing or too old; nothing was started.
    """
    said = aws_cli_version()
    if not is_new_enough(said):
        raise failures.WrongUseError(
            f"EKS stacks need the AWS CLI, {NEEDED}, on the PATH: pulumi-eks checks for it in "
            "every preview and update, and the kubeconfig of the cluster calls `aws eks "
            f"get-token`; found {said or 'none'}\n  install it: {INSTALL}"
        )


def aws_cli_row() -> Row:
    """Return its row in the preflight table.

    At most a warning, because the stack may be deployed from another machine.
    """
    asked, said = "this machine has the AWS CLI that pulumi-eks calls", aws_cli_version()
    if is_new_enough(said):
        return ok("architecture", asked, said.split()[0])
    found = f"{said or 'none on the PATH'}; `preview` and `up` need {NEEDED}: {INSTALL}"
    return warning("architecture", asked, found)
